// A store alone, without HTTP: waves of plants, each of which is one batch.
import { readFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type { PlantRepository } from '@plantstore/core';
import { openPostgresRepository } from '@plantstore/postgres';
import { openSqliteRepository } from '@plantstore/sqlite';

/** What a wave of so many plants took, in microseconds. */
export type Wave = {
  readonly plants: number;
  readonly time: number;
  /** Of it, what the store kept the event loop busy for. */
  readonly onHost: number;
  /** CPU that it used beside that thread: in the file's, or in the database server. */
  readonly cpuBeside: number;
};

const [database = '', sizes = '1,256', seconds = '1', server = ''] = process.argv.slice(2);

const ticksPerSecond = 100;

/** CPU of a process in microseconds; none if it has just ended. */
const cpuOf = (id: string): number => {
  try {
    // What follows the name, which may have anything in it: its user and system time among it.
    const fields = readFileSync(`/proc/${id}/stat`, 'utf8')
      .replace(/^.*\) /, '')
      .split(' ');
    return (Number(fields[11]) + Number(fields[12])) * (1e6 / ticksPerSecond);
  } catch {
    return 0;
  }
};

/** CPU of the processes that a process has started. */
const cpuOfChildren = (parent: string): number =>
  readFileSync(`/proc/${parent}/task/${parent}/children`, 'utf8')
    .trim()
    .split(' ')
    .reduce((sum, child) => sum + cpuOf(child), 0);

const cpuBesideNow = (): number => {
  if (server !== '') return cpuOfChildren(server);
  const [all, thread] = [process.cpuUsage(), process.threadCpuUsage()];
  return all.user + all.system - thread.user - thread.system;
};

const opened = database.startsWith('postgres:')
  ? await openPostgresRepository({ url: database })
  : await openSqliteRepository({ path: database });
if (opened.isErr()) throw new Error(opened.error.message);
const repository: PlantRepository & { readonly close: () => Promise<unknown> } = opened.value;

let lastId = 0;
const create = async (): Promise<void> => {
  lastId += 1;
  const id = BigInt(Math.floor(Math.random() * 2 ** 20) * 2 ** 32 + lastId);
  const created = await repository.create({ id, name: 'Monstera', tag: 'climber' });
  if (created.isErr()) throw new Error(created.error.kind);
};

const putWaves = async (plants: number, forSeconds: number): Promise<Wave> => {
  const began = performance.now();
  const idle = performance.eventLoopUtilization();
  const cpuBefore = cpuBesideNow();
  let waves = 0;
  while (performance.now() - began < forSeconds * 1e3) {
    await Promise.all(Array.from({ length: plants }, create));
    waves += 1;
  }
  const { active } = performance.eventLoopUtilization(idle);
  return {
    plants,
    time: ((performance.now() - began) * 1e3) / waves,
    onHost: (active * 1e3) / waves,
    cpuBeside: (cpuBesideNow() - cpuBefore) / waves,
  };
};

const all = sizes.split(',').map(Number);
for (const plants of all) await putWaves(plants, 0.5);
const told: Wave[] = [];
for (const plants of all) told.push(await putWaves(plants, Number(seconds)));
await repository.close();
process.send?.(told);
process.disconnect?.();
