// `node bench/scaling.ts`: what one host reaches with few and many connections, beside what a model says
// that knows only what each part costs by itself; and what memory, disk and network a plant takes.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { startPostgres } from '../packages/postgres/test/postgres-server.ts';
import { buildIfStale } from './build.ts';
import { thisMachine } from './machine.ts';
import { measureRound, type Round } from './scaling/measure-round.ts';
import { measureFootprint } from './scaling/footprint.ts';
import { tellFootprint, tellRounds, tellSlowerCommits } from './scaling/tell.ts';
import { storesIn } from './stores.ts';
import { machineInWords } from './tables.ts';

const { values } = parseArgs({
  options: {
    rounds: { type: 'string', default: '8' },
    seconds: { type: 'string', default: '1' },
    connections: { type: 'string', default: '1,4,16,64,256' },
    plants: { type: 'string', default: '500000' },
    json: { type: 'string', default: join(import.meta.dirname, 'scaling.json') },
  },
});

buildIfStale();

const folder = await mkdtemp(join(tmpdir(), 'plantstore-scaling-'));
const postgres = await startPostgres();
try {
  const places = { stores: storesIn(folder, postgres), postgres };
  const rounds: Round[] = [];
  while (rounds.length < Number(values.rounds)) {
    process.stderr.write(`round ${rounds.length + 1} of ${values.rounds}\n`);
    rounds.push(
      await measureRound(places, {
        connections: values.connections.split(',').map(Number),
        seconds: Number(values.seconds),
        isReversed: rounds.length % 2 === 1,
      }),
    );
  }
  process.stderr.write('memory, disk and network\n');
  const footprint = await measureFootprint(places, Number(values.plants));
  const machine = machineInWords(await thisMachine());
  const date = new Date().toISOString().slice(0, 10);
  await writeFile(
    values.json,
    `${JSON.stringify({ date, machine, rounds, footprint }, undefined, 2)}\n`,
  );
  console.log(`${date}, ${machine}; ${rounds.length} rounds: median (least–most)\n`);
  tellRounds(rounds);
  tellSlowerCommits(rounds);
  tellFootprint(footprint);
} finally {
  await postgres.dispose();
  await rm(folder, { recursive: true, force: true });
}
