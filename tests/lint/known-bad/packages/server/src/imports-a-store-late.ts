// expected: eslint/no-restricted-imports
export const open = async (): Promise<unknown> => await import('@plantstore/sqlite');
