// `pnpm bench` runs all parts and writes results.json. `--parts growth` runs only this part, and
// `--only sqlite` only servers with this text in their names; both write results only with `--json FILE`.
// `pnpm bench --report` writes the pages and the plot from results.json without measuring.
import { readFile, statfs, writeFile } from 'node:fs/promises';
import { cpus, release, tmpdir, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { canPin } from './child.ts';
import { measureGrowth } from './growth.ts';
import { formatMarkdown, writeReport } from './report.ts';
import { type Parts, type Results, stringifyResults } from './results.ts';
import { compareServers } from './servers.ts';
import { tableOf } from './tables.ts';

const { values } = parseArgs({
  options: {
    parts: { type: 'string', default: 'servers,growth' },
    only: { type: 'string', default: '' },
    rounds: { type: 'string', default: '3' },
    seconds: { type: 'string', default: '2' },
    plants: { type: 'string', default: '1000000' },
    json: { type: 'string' },
    report: { type: 'boolean', default: false },
  },
});

const rounds = Number(values.rounds);
const load = { connections: 64, seconds: Number(values.seconds), warmUpSeconds: 1.5 };
const defaultJson = join(import.meta.dirname, 'results.json');

const measure: { readonly [Name in keyof Parts]: () => Promise<Parts[Name]> } = {
  servers: async () => compareServers(load, rounds, values.only, notify),
  growth: async () => measureGrowth(load, Number(values.plants), rounds),
};

if (values.report) {
  const results = JSON.parse(await readFile(values.json ?? defaultJson, 'utf8')) as Results;
  for (const file of await writeReport(results)) notify(`written: ${file}`);
} else {
  await measureParts(values.only === '' ? partsIn(values.parts) : ['servers']);
}

async function measureParts(names: readonly (keyof Parts)[]): Promise<void> {
  const machine = await describeMachine();
  console.log(machine);
  const parts: Partial<Parts> = {};
  for (const name of names) {
    notify(`${name} …`);
    const part = await measure[name]();
    Object.assign(parts, { [name]: part });
    console.log(await formatMarkdown(tableOf(name, part)));
  }
  const isComplete = names.length === Object.keys(measure).length;
  const json = values.json ?? (isComplete ? defaultJson : undefined);
  if (json === undefined) return;
  await writeFile(json, stringifyResults({ date: new Date().toISOString(), machine, ...parts }));
  notify(`written: ${json}`);
}

function partsIn(text: string): readonly (keyof Parts)[] {
  return text.split(',').map((name) => {
    if (name in measure) return name as keyof Parts;
    throw new Error(`unknown part "${name}". Choose from: ${Object.keys(measure).join(', ')}`);
  });
}

async function describeMachine(): Promise<string> {
  const memory = `${Math.round(totalmem() / 2 ** 30)} GiB`;
  const tmpfs = 0x01_02_19_94;
  return [
    `${cpus()[0]?.model}, ${cpus().length} cores, ${memory}, ${type()} ${release()}, Node ${process.versions.node}`,
    canPin ? 'servers and load had a core each' : 'servers and load shared the cores',
    (await statfs(tmpdir())).type === tmpfs ? 'stores on a tmpfs, not durable' : 'stores on a disk',
  ].join('; ');
}

function notify(text: string): void {
  process.stderr.write(`${text}\n`);
}
