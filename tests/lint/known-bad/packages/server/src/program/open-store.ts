import { openSqliteRepository } from '@plantstore/sqlite';
import { ok } from 'neverthrow';
// expected: eslint/no-restricted-imports
import { object } from 'zod/mini';

export const used = [openSqliteRepository, ok, object];
