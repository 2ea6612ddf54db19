import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { startLoad } from './load.ts';
import { newFolder, type RunningProgram, startProgram } from '../black-box/program.ts';

const maxInFlight = 256;
/** Time until each client was served or refused, in seconds. */
const warmUpSeconds = 2;

const residentMiB = async ({ process }: RunningProgram) => {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(process.pid)]);
  return Number(stdout) / 1_024;
};

/** Returns the duration of an unauthenticated request in milliseconds, which shows the delay of the event loop. */
const unauthenticatedMs = async (url: string) => {
  const from = performance.now();
  await (await fetch(url, { method: 'POST' })).arrayBuffer();
  return performance.now() - from;
};

type Measurement = Readonly<Record<'perSecond' | 'refused' | 'delay' | 'resident', number>>;

/** Measures a server under the load of some clients. */
const measure = async (server: RunningProgram, clients: number): Promise<Measurement> => {
  const load = startLoad(server.port, clients);
  await load.count(warmUpSeconds);
  const counting = load.count(2);
  const delay = await unauthenticatedMs(server.url);
  const { created, refused, others, seconds } = await counting;
  const resident = await residentMiB(server);
  await load.stop();
  expect(others).toEqual([]);
  return { perSecond: created / seconds, refused: refused / seconds, delay, resident };
};

it('ten times as many clients as maxInFlight, which obey Retry-After, do not reduce the throughput or increase the memory', async () => {
  const args = ['--database', `sqlite:${join(await newFolder(), 'plants.db')}`];
  const server = await startProgram({ args: [...args, '--max-in-flight', String(maxInFlight)] });
  const peak = await measure(server, maxInFlight);
  const overloaded = await measure(server, 10 * maxInFlight);
  const ratio = overloaded.perSecond / peak.perSecond;
  const shown = (name: keyof Measurement) =>
    [peak, overloaded].map((one) => Math.round(one[name])).join(' and ');
  console.log(
    `overload: ${maxInFlight} and ${10 * maxInFlight} clients with maxInFlight ${maxInFlight}: ` +
      `throughput ×${ratio.toFixed(2)} (${shown('perSecond')} plants a second), ` +
      `${shown('refused')} refused a second; an unauthenticated request takes ${shown('delay')} ms; ` +
      `memory ${shown('resident')} MiB`,
  );
  expect(overloaded.refused).toBeGreaterThan(0);
  // About 0.9 on an idle machine, and less on a busy one, because refusals take CPU time, too.
  expect(ratio).toBeGreaterThan(0.3);
  expect(overloaded.resident).toBeLessThan(peak.resident + 200);
}, 120_000);
