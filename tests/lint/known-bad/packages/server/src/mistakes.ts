// expected: eslint/no-restricted-imports
import { openSqliteRepository } from '@plantstore/sqlite';
// expected: eslint/no-restricted-imports
import { ok } from 'neverthrow';

export const used = [openSqliteRepository, ok];
// expected: eslint/no-restricted-imports
export const openLate = async (): Promise<unknown> => await import('@plantstore/postgres');
