import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The program, which the global setup has built. */
export const program = [
  process.execPath,
  '--no-warnings',
  fileURLToPath(new URL('../../packages/plantstore/dist/bin.js', import.meta.url)),
] as const;

/** The folder that stands for `/` of a machine, and the port of PostgreSQL on it. */
export const machine = {
  root: process.env['MACHINE'] ?? '',
  postgresPort: Number(process.env['MACHINE_POSTGRES_PORT']),
};

/** Rewrites the paths and ports in commands and units to those of a machine. */
export const onMachine = (text: string, { root, postgresPort } = machine): string =>
  text
    .replaceAll(/(?<![\w/.])\/(etc|var)\//g, `${root}/$1/`)
    .replaceAll('localhost:5432', `localhost:${postgresPort}`)
    .replaceAll('@localhost/', `@localhost:${postgresPort}/`)
    .replaceAll(/(HEALTH_PORT)=\S+/g, '$1=0');

/** Reads the variables of files with lines `NAME=value`, or `Environment=NAME=value` as in a unit. */
export const readVariables = (files: readonly string[]): Record<string, string> =>
  Object.fromEntries(
    files.flatMap((file) =>
      [
        ...onMachine(readFileSync(file, 'utf8')).matchAll(/^(?:Environment=)?([A-Z_]+)=(.*)$/gm),
      ].map(([, name = '', value = '']) => [name, value]),
    ),
  );
