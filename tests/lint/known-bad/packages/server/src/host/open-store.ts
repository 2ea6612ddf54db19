// expected: nothing
import { openSqliteRepository } from '@plantstore/sqlite';
import { serve } from '../good.ts';

export const openStore = { openSqliteRepository, serve };
