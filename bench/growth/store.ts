// A store of its own process, driven through its repository: made, filled, measured, opened again.
import { randomFillSync } from 'node:crypto';
import { openSqliteRepository, type SqliteRepository } from '@plantstore/sqlite';

/** What the process may be asked. */
export type Question =
  | { readonly ask: 'open'; readonly path: string }
  | { readonly ask: 'create'; readonly plants: number; readonly atATime: number }
  | { readonly ask: 'close' };

/** What it answers. */
export type Answer = {
  readonly seconds: number;
  /** Of the whole process, with the thread that commits. */
  readonly cpuSeconds: number;
  /** The slowest wave, in milliseconds. */
  readonly longestWaveMs: number;
  readonly residentBytes: number;
};

let repository: SqliteRepository | undefined;

const open = async (path: string): Promise<void> => {
  const opened = await openSqliteRepository({ path });
  if (opened.isErr()) throw new Error(opened.error.message);
  repository = opened.value;
};

const createOne = async (id: bigint): Promise<void> => {
  const created = await repository?.create({ id, name: 'Monstera', tag: 'climber' });
  if (created?.isOk() !== true) throw new Error('a plant was not created');
};

const createMany = async (plants: number, atATime: number): Promise<number> => {
  let longest = 0;
  for (let left = plants; left > 0; left -= atATime) {
    const ids = randomFillSync(new BigInt64Array(Math.min(left, atATime)));
    const began = performance.now();
    await Promise.all(Array.from(ids, createOne));
    longest = Math.max(longest, performance.now() - began);
  }
  return longest;
};

const answer = async (question: Question): Promise<number> => {
  switch (question.ask) {
    case 'open':
      await open(question.path);
      return 0;
    case 'create':
      return createMany(question.plants, question.atATime);
    case 'close':
      await repository?.close();
      return 0;
  }
};

const measured = async (question: Question): Promise<Answer> => {
  const began = performance.now();
  const cpu = process.cpuUsage();
  const longestWaveMs = await answer(question);
  const { user, system } = process.cpuUsage(cpu);
  return {
    seconds: (performance.now() - began) / 1_000,
    cpuSeconds: (user + system) / 1e6,
    longestWaveMs,
    residentBytes: process.memoryUsage.rss(),
  };
};

process.on('message', (question: Question) => {
  void measured(question).then((told) => process.send?.(told));
});
