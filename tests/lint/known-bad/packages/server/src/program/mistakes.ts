// expected: eslint/no-restricted-imports
import { openSqliteRepository } from '@plantstore/sqlite';
import { ok } from 'neverthrow';

export const used = [openSqliteRepository, ok];
