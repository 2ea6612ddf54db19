import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { gather } from './crowd.ts';
import { newFolder, type RunningHost, startHost } from '../black-box/host.ts';
import { median } from './median.ts';

const maxInFlight = 256;
const rounds = 2;
/** Until those who are turned away again and again come as seldom as they are told to. */
const settlingSeconds = 6;

const residentMiB = async ({ process }: RunningHost) => {
  const { stdout } = await promisify(execFile)('ps', ['-o', 'rss=', '-p', String(process.pid)]);
  return Number(stdout) / 1_024;
};

/** Milliseconds that a request without credentials waits: what the event loop is behind. */
const strangerWaits = async (url: string) => {
  const from = performance.now();
  await (await fetch(url, { method: 'POST' })).arrayBuffer();
  return performance.now() - from;
};

type Visit = {
  readonly perSecond: number;
  readonly turnedAway: number;
  readonly delay: number;
  readonly resident: number;
};

/** A crowd of some size for a while, and what the host did meanwhile. */
const visit = async (host: RunningHost, clients: number, secondsBefore: number): Promise<Visit> => {
  const crowd = gather(host.port, clients);
  await crowd.count(secondsBefore);
  const counting = crowd.count(2);
  const delay = median([
    await strangerWaits(host.url),
    await strangerWaits(host.url),
    await strangerWaits(host.url),
  ]);
  const { created, turnedAway, others, seconds } = await counting;
  const resident = await residentMiB(host);
  await crowd.leave();
  expect(others).toEqual([]);
  return { perSecond: created / seconds, turnedAway: turnedAway / seconds, delay, resident };
};

it('ten times as many clients as may be served leave the throughput, the memory and the event loop as they were', async () => {
  const args = ['--database', `sqlite:${join(await newFolder(), 'plants.db')}`];
  const host = await startHost({ args: [...args, '--max-in-flight', String(maxInFlight)] });
  await visit(host, maxInFlight, 1);
  const peak: Visit[] = [];
  const crowded: Visit[] = [];
  for (let round = 0; round < rounds; round += 1) {
    peak.push(await visit(host, maxInFlight, 0.5));
    crowded.push(await visit(host, 10 * maxInFlight, settlingSeconds));
  }
  const at = (name: keyof Visit) =>
    [median(peak.map((one) => one[name])), median(crowded.map((one) => one[name]))] as const;
  const [alone, together] = at('perSecond');
  const ratio = median(
    crowded.map(({ perSecond }, round) => perSecond / (peak[round]?.perSecond ?? 0)),
  );
  console.log(
    `overload: ${10 * maxInFlight} clients where ${maxInFlight} are served: throughput ×${ratio.toFixed(2)} ` +
      `(${alone.toFixed(0)} and ${together.toFixed(0)} plants a second), ${at('turnedAway')[1].toFixed(0)} turned away a second; ` +
      `a stranger waits ${at('delay')
        .map((ms) => ms.toFixed(1))
        .join(' and ')} ms; ` +
      `memory ${at('resident')
        .map((mib) => mib.toFixed(0))
        .join(' and ')} MiB`,
  );
  expect(at('turnedAway')[1]).toBeGreaterThan(0);
  // On a quiet machine it is 0.9; on a busy one less, because turning away takes its part of what is
  // left. Where those who come back at once are not held, it is 0.1.
  expect(ratio).toBeGreaterThan(0.3);
  expect(at('resident')[1]).toBeLessThan(at('resident')[0] + 200);
}, 120_000);
