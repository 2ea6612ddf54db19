import { openSqliteRepository } from '@plantstore/sqlite';
// expected: eslint/no-restricted-imports
import { ok } from 'neverthrow';

export const used = [openSqliteRepository, ok];
