// expected: eslint/no-restricted-imports
import { openSqliteRepository } from '@plantstore/sqlite';
import pg from 'pg';

export const used = [openSqliteRepository, pg];
