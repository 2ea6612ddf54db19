// expected: walls/no-reexport
export { ok } from 'neverthrow';
