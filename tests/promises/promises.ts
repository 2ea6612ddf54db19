import { client } from './client.ts';
import { commands } from './commands.ts';
import { core } from './core.ts';
import { http } from './http.ts';
import type { Mutation } from './mutation.ts';
import { node } from './node.ts';
import { postgres } from './postgres.ts';
import { program } from './program.ts';
import { sqlite } from './sqlite.ts';

/** The mutations of each area. */
export const promises: Readonly<Record<string, readonly Mutation[]>> = {
  client,
  core,
  http,
  node,
  program,
  commands,
  sqlite,
  postgres,
};
