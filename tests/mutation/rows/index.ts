import type { Row } from './rows-in.ts';
import { client } from './client.ts';
import { core } from './core.ts';
import { postgres } from './postgres.ts';
import { program } from './program.ts';
import { server } from './server.ts';
import { sqlite } from './sqlite.ts';

/** Changes by hand that no generator makes, each of which breaks a promise. */
export const rows: readonly Row[] = [
  ...client,
  ...core,
  ...postgres,
  ...program,
  ...server,
  ...sqlite,
];
