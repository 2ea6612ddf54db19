// expected: walls/no-reexport
export * from 'neverthrow';
