// expected: eslint/no-restricted-imports
import { openSqliteRepository } from '@plantstore/sqlite';

export const wrong = openSqliteRepository;
