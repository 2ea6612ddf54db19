// `pnpm bench`: everything that is measured, as tables and as JSON. `--parts start,client` measures only those,
// `--only sqlite` only the servers of such a name; what is not whole is written only where `--json` says.
// `pnpm bench --report` measures nothing, and writes the pages and plots anew from the JSON.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { compareClients } from './client.ts';
import { compareCore } from './core.ts';
import { measureGrowth } from './growth.ts';
import { thisMachine } from './machine.ts';
import { writeReport } from './report/report.ts';
import type { Machine, Parts, Results } from './results.ts';
import { compareServers } from './servers.ts';
import { compareStarts } from './start.ts';
import {
  asText,
  clientTables,
  coreTable,
  growthTable,
  machineInWords,
  serversTable,
  startTable,
  type Table,
} from './tables.ts';

const { values } = parseArgs({
  options: {
    parts: { type: 'string' },
    only: { type: 'string', default: '' },
    rounds: { type: 'string' },
    seconds: { type: 'string', default: '3' },
    connections: { type: 'string', default: '64' },
    plants: { type: 'string', default: '1000000' },
    json: { type: 'string' },
    report: { type: 'boolean', default: false },
  },
});

/** How it goes on, which is not part of what it prints. */
const tell = (text: string) => process.stderr.write(`${text}\n`);

const print = (tables: readonly Table[]) => {
  for (const table of tables) console.log(`\n${asText(table)}`);
};

const roundsOr = (usual: number): number => Number(values.rounds ?? usual);

/** Measures a part and prints it. */
const measurePart: {
  readonly [Name in keyof Parts]: () => Promise<Parts[Name]>;
} = {
  servers: async () => {
    const servers = await compareServers(
      {
        connections: Number(values.connections),
        seconds: Number(values.seconds),
        warmUpSeconds: 1.5,
        rounds: roundsOr(3),
        only: values.only,
      },
      tell,
    );
    print([serversTable(servers)]);
    if (servers.leftOut.length > 0) process.exitCode = 1;
    return servers;
  },
  start: async () => {
    const starts = await compareStarts(roundsOr(9));
    print([startTable(starts)]);
    return starts;
  },
  client: async () => {
    const clients = await compareClients(roundsOr(15));
    print(clientTables(clients));
    return clients;
  },
  core: async () => {
    const core = await compareCore(roundsOr(9));
    print([coreTable(core)]);
    return core;
  },
  growth: async () => {
    const growth = await measureGrowth({ plants: Number(values.plants), rounds: roundsOr(5) });
    print([growthTable(growth)]);
    return growth;
  },
};

const names = Object.keys(measurePart) as (keyof Parts)[];

const chosen = (): readonly (keyof Parts)[] => {
  if (values.only !== '') return ['servers'];
  if (values.parts === undefined) return names;
  const asked = values.parts.split(',');
  const unknown = asked.filter((name) => !names.some((known) => known === name));
  if (unknown.length > 0) throw new Error(`no such part: ${unknown.join(', ')} (${names.join()})`);
  return names.filter((name) => asked.includes(name));
};

const usualJson = join(import.meta.dirname, 'results.json');

const measureAll = async (): Promise<void> => {
  const parts = chosen();
  const isWhole = parts.length === names.length;
  const machine: Machine = await thisMachine();
  const began = performance.now();
  console.log(machineInWords(machine));
  const told: Partial<Record<keyof Parts, unknown>> = {};
  for (const name of parts) {
    tell(`${name} …`);
    told[name] = await measurePart[name]();
  }
  const seconds = Math.round((performance.now() - began) / 1_000);
  const results = { date: new Date().toISOString(), seconds, machine, ...told };
  const json = values.json ?? (isWhole ? usualJson : undefined);
  if (json === undefined) return;
  await writeFile(json, `${JSON.stringify(results, undefined, 2)}\n`);
  tell(`written in ${seconds} s: ${json}`);
};

if (values.report) {
  const file = values.json ?? usualJson;
  const results = JSON.parse(await readFile(file, 'utf8')) as Results;
  const missing = names.filter((name) => !(name in results));
  if (missing.length > 0) throw new Error(`${file} has no ${missing.join(', ')}: measure all`);
  for (const written of await writeReport(results)) tell(`written: ${written}`);
} else {
  await measureAll();
}
