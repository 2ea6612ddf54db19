import { makeFaultyDisk } from '@plantstore/test-support/faulty-disk';
import { expect, it } from 'vitest';
import { post, startProgram } from '../black-box/program.ts';
import { median } from './median.ts';

const delayMs = 200;
const clients = 32;
const plantsEach = 8;

it('a slow disk delays only creates, and concurrent creates share its syncs', async ({ skip }) => {
  const disk = await makeFaultyDisk(delayMs);
  if (disk === undefined) return skip('no C compiler is installed for the slow disk');
  const server = await startProgram({ args: ['--database', `sqlite:${disk.path}`], env: disk.env });
  const before = await disk.syncs();

  const creating = { done: false };
  const created = Promise.all(
    Array.from({ length: clients }, async (_, client) => {
      for (let plant = 0; plant < plantsEach; plant += 1) {
        const id = client * plantsEach + plant;
        expect(await post(server.url, `{"id":${id},"name":"x"}`)).toMatchObject({ status: 200 });
      }
    }),
  ).finally(() => {
    creating.done = true;
  });
  const waits: number[] = [];
  while (!creating.done) {
    const start = performance.now();
    await (await fetch(server.url)).arrayBuffer();
    waits.push(performance.now() - start);
  }
  await created;

  const commits = (await disk.syncs()) - before;
  const wait = median(waits);
  console.log(
    `slow disk: ${delayMs} ms a sync, ${clients * plantsEach} plants in ${commits} syncs; ` +
      `an unrelated request waited ${wait.toFixed(1)} ms (median of ${waits.length})`,
  );
  expect(wait).toBeLessThan(delayMs / 4);
  expect((clients * plantsEach) / commits).toBeGreaterThan(clients / 4);
  // A C program is compiled first.
}, 60_000);
