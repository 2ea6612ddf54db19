// Fills a store with plants, as many at a time as busy clients would send.
import { openPostgresRepository } from '@plantstore/postgres';
import { openSqliteRepository } from '@plantstore/sqlite';

/** What was written. */
export type Filled = {
  readonly ids: 'sequential' | 'random';
  /** Bytes that this process wrote to the disk, as the system counts them. */
  readonly written: number;
};

const [database = '', plants = '0', ids = 'random'] = process.argv.slice(2);
const atATime = 64;
const bytesPerBlock = 512;

const opened = database.startsWith('postgres:')
  ? await openPostgresRepository({ url: database })
  : await openSqliteRepository({ path: database });
if (opened.isErr()) throw new Error(opened.error.message);

const idOf = (count: number): bigint =>
  BigInt(ids === 'random' ? Math.floor(Math.random() * 2 ** 20) * 2 ** 32 + count : count);

let count = 0;
const createEach = async (): Promise<void> => {
  while (count < Number(plants)) {
    count += 1;
    const created = await opened.value.create({
      id: idOf(count),
      name: 'Monstera',
      tag: 'climber',
    });
    if (created.isErr()) throw new Error(created.error.kind);
  }
};

await Promise.all(Array.from({ length: atATime }, createEach));
await opened.value.close();
process.send?.({ ids, written: process.resourceUsage().fsWrite * bytesPerBlock });
process.disconnect?.();
