// `pnpm bench` runs all parts and writes results.json. `--parts start,client` runs only these parts, and
// `--only sqlite` only servers with this text in their names; both write results only with `--json FILE`.
// `pnpm bench --report` writes the pages and plots from results.json without measuring.
import { readFile, statfs, writeFile } from 'node:fs/promises';
import { cpus, release, tmpdir, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { canPin } from './child.ts';
import { compareClients } from './client.ts';
import { compareCommands } from './commands.ts';
import { measureGrowth } from './growth.ts';
import { compareIdle } from './idle.ts';
import { formatMarkdown, writeReport } from './report.ts';
import type { Parts, Results } from './results.ts';
import { measureScaling } from './scaling.ts';
import { compareServers } from './servers.ts';
import { compareStarts } from './start.ts';
import { asMarkdown, tablesOf } from './tables.ts';

const { values } = parseArgs({
  options: {
    parts: { type: 'string', default: 'servers,start,idle,client,growth,scaling,commands' },
    only: { type: 'string', default: '' },
    rounds: { type: 'string' },
    seconds: { type: 'string', default: '2' },
    plants: { type: 'string', default: '1000000' },
    json: { type: 'string' },
    report: { type: 'boolean', default: false },
  },
});

const notify = (text: string) => process.stderr.write(`${text}\n`);

const load = { connections: 64, seconds: Number(values.seconds), warmUpSeconds: 1.5 };
const rounds = (defaultRounds: number): number => Number(values.rounds ?? defaultRounds);

const measure: { readonly [Name in keyof Parts]: () => Promise<Parts[Name]> } = {
  servers: async () => compareServers(load, rounds(3), values.only, notify),
  start: async () => compareStarts(rounds(9)),
  idle: async () => compareIdle(rounds(5)),
  client: async () => compareClients(rounds(9)),
  growth: async () => measureGrowth(load, Number(values.plants), rounds(3)),
  scaling: async () => measureScaling(load, rounds(3)),
  commands: async () => compareCommands(300_000, rounds(3)),
};

const describeMachine = async (): Promise<string> => {
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const tmpfs = 0x01_02_19_94;
  return [
    `${cpus()[0]?.model}, ${cpus().length} cores, ${memory}, ${type()} ${release()}, Node ${process.versions.node}`,
    canPin ? 'servers and load had a core each' : 'servers and load shared the cores',
    (await statfs(tmpdir())).type === tmpfs ? 'stores on a tmpfs, not durable' : 'stores on a disk',
  ].join('; ');
};

const partsIn = (text: string): readonly (keyof Parts)[] =>
  text.split(',').map((name) => {
    if (name in measure) return name as keyof Parts;
    throw new Error(`unknown part "${name}". Choose from: ${Object.keys(measure).join(', ')}`);
  });

const defaultJson = join(import.meta.dirname, 'results.json');

const measureParts = async (names: readonly (keyof Parts)[]): Promise<void> => {
  const machine = await describeMachine();
  const began = performance.now();
  console.log(machine);
  const parts: Partial<Parts> = {};
  for (const name of names) {
    notify(`${name} …`);
    Object.assign(parts, { [name]: await measure[name]() });
    for (const table of tablesOf(name, parts as Parts))
      console.log(await formatMarkdown(asMarkdown(table)));
  }
  const seconds = Math.round((performance.now() - began) / 1_000);
  const isComplete = names.length === Object.keys(measure).length;
  const json = values.json ?? (isComplete ? defaultJson : undefined);
  if (json === undefined) return;
  const results = { date: new Date().toISOString(), seconds, machine, ...parts };
  await writeFile(json, `${JSON.stringify(results, undefined, 2)}\n`);
  notify(`written in ${seconds} s: ${json}`);
};

if (values.report) {
  const results = JSON.parse(await readFile(values.json ?? defaultJson, 'utf8')) as Results;
  for (const file of await writeReport(results)) notify(`written: ${file}`);
} else {
  await measureParts(values.only === '' ? partsIn(values.parts) : ['servers']);
}
