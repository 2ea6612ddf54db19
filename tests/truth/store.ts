import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { mountSmallDisk } from '@plantstore/test-support/small-disk';
import type { Perform } from './acts.ts';

/** The plants that another program reads, the text of each by its id, and what is damaged. */
export type Disk = { readonly rows: ReadonlyMap<string, string>; readonly damage?: string };

/** What the plants are stored in. */
export type Store = {
  readonly database: string;
  /** Environment variables of the program. */
  readonly env: Readonly<Record<string, string>>;
  /** Variables of shell commands: the folder of its disk, and the path of a SQLite database. */
  readonly variables: { readonly FOLDER: string; readonly DB?: string };
  /** Reads the plants without code of this project. */
  readonly read: () => Promise<Disk>;
  /** The ways to perform an act that only this store has. */
  readonly ways: Readonly<Record<string, Perform>>;
  readonly dispose: () => Promise<unknown>;
};

/** A plant without its id, as the service writes it: plants are compared by this text. */
export const textOf = (name: string, tag?: string | null): string =>
  JSON.stringify({ name, tag: tag ?? undefined });

/** Returns the plants of rows, and what is damaged. */
export function diskOf(all: readonly object[], check = 'ok'): Disk {
  const plants = all as readonly { id: bigint | string; name: string; tag?: string | null }[];
  const rows = new Map(plants.map(({ id, name, tag }) => [String(id), textOf(name, tag)]));
  const isSound = check === 'ok' && rows.size === all.length;
  return { rows, ...(!isSound && { damage: `${all.length} rows: ${check}` }) };
}

export const damaged = (thrown: unknown): Disk => ({ rows: new Map(), damage: String(thrown) });

/** Runs shell commands. Rejects if they fail. */
export const shell = async (commands: string, variables: object): Promise<unknown> =>
  promisify(execFile)('sh', ['-c', commands], { env: { ...process.env, ...variables } });

/** Whether a database can be on a disk of its own, which becomes full. */
export const mayFill = await mayMountDisk(mkdtempSync(join(tmpdir(), 'plantstore-truth-')));

async function mayMountDisk(folder: string): Promise<boolean> {
  const disk = join(folder, 'disk');
  mkdirSync(disk);
  const [tried] = await Promise.allSettled([
    mountSmallDisk(disk).then(async (unmount) => unmount()),
  ]);
  rmSync(folder, { recursive: true });
  return tried.status === 'fulfilled';
}

/** Returns whether a condition becomes true within 600 attempts, with 100 ms between them. */
export async function isTrueSoon(isTrue: () => Promise<boolean>): Promise<boolean> {
  for (let left = 600; left > 0; left -= 1) {
    if (await isTrue().catch(() => false)) return true;
    await sleep(100);
  }
  return false;
}
