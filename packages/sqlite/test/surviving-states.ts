import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Operation } from '@plantstore/test-support/disk-trace';
import { createFolder, type Survives } from '@plantstore/test-support/power-cut';
import { openAsOwner } from '../src/open/owned-database.ts';
import type { Database } from '../src/open/connection.ts';
import { plantOf } from './plant-of.ts';

/** A fault in the files after a power cut. */
type Fault = { readonly fault: string; readonly acknowledged: number; readonly missing: number };

/** What a store finds in files: the names of the plants by id, or why it cannot use the files. */
type Content = { readonly fault?: string; readonly names: ReadonlyMap<bigint, unknown> };

const contentOf = (database: Database): Content => {
  const [integrity] = Object.values(database.prepare('PRAGMA integrity_check').get() ?? {});
  const select = database.prepare('SELECT id, name FROM plants');
  select.setReadBigInts(true);
  const names = new Map(select.all().map((row) => [row['id'] as bigint, row['name']]));
  return { ...(integrity !== 'ok' && { fault: String(integrity) }), names };
};

const openAndRead = (path: string): Content => {
  const names = new Map<bigint, unknown>();
  let database: Database | undefined;
  try {
    const opened = openAsOwner({ kind: 'create', path });
    if (opened.isErr()) return { fault: opened.error.kind, names };
    database = opened.value;
    return contentOf(opened.value);
  } catch (thrown) {
    return { fault: String(thrown), names };
  } finally {
    database?.close();
  }
};

const compare = ({ fault, names }: Content, acknowledged: readonly number[]): Fault | undefined => {
  const missing = acknowledged.map(plantOf).filter(({ id, name }) => names.get(id) !== name).length;
  if (fault === undefined && missing === 0) return undefined;
  return { fault: fault ?? 'missing plants', acknowledged: acknowledged.length, missing };
};

/** Opens the files after a power cut, and compares them with the acknowledged plants. */
export const faultIn = (path: string, acknowledged: readonly number[]): Fault | undefined =>
  compare(openAndRead(path), acknowledged);

/** Returns a pseudo-random sequence of decisions for a seed (mulberry32). */
const decisions = (seed: number): Survives => {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % 2 === 0;
  };
};

/** A folder in memory, where a sync costs nothing. */
const memoryFolder = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();

/** Result of all inspected states. */
export type States = { states: number; acknowledged: number; faults: Fault[] };

/** Nothing survives a power cut, or everything, as after a kill. */
const noneOrAll = (): Survives[] => [() => false, () => true];

/** Nothing survives, everything, or a random part. */
export const noneAllOrSome = (index: number): Survives[] => [...noneOrAll(), decisions(index)];

/** Returns the index of the first failed sync. */
export const firstFailedSync = (operations: readonly Operation[]): number => {
  const first = operations.findIndex(({ kind }) => kind === 'failed sync');
  if (first === -1) throw new Error('no sync failed');
  return first;
};

type Choice = {
  readonly first: number;
  readonly step: number;
  readonly count: number;
  readonly survivals: (index: number) => readonly Survives[];
};

/**
 * Simulates a power cut after every `step`-th of `count` operations since the `first`, and at the end.
 * Inspects the synced data with the parts of the other data that `survivals` returns for each operation.
 */
export const inspectStates = async (
  operations: readonly Operation[],
  { first, step, count, survivals }: Choice,
): Promise<States> => {
  const folder = createFolder();
  const result: States = { states: 0, acknowledged: 0, faults: [] };
  const root = await mkdtemp(join(memoryFolder, 'plantstore-'));
  // Many states have the same files, for example those between two syncs of which nothing survives.
  const contents = new Map<string, Content>();
  const read = async (files: ReadonlyMap<string, Buffer>): Promise<Content> => {
    const digest = createHash('sha256');
    for (const [name, content] of files)
      digest.update(`${name} ${content.length} `).update(content);
    const key = digest.digest('hex');
    const known = contents.get(key);
    if (known !== undefined) return known;
    const state = await mkdtemp(join(root, 'state-'));
    for (const [name, content] of files) await writeFile(join(state, name), content);
    const content = openAndRead(join(state, 'plants.db'));
    contents.set(key, content);
    await rm(state, { recursive: true });
    return content;
  };
  for (const [index, operation] of operations.entries()) {
    folder.apply(operation);
    const isChosen = index >= first && index < first + count && (index - first) % step === 0;
    if (!isChosen && index < operations.length - 1) continue;
    const acknowledged = folder.read('acknowledged').split('\n').slice(0, -1).map(Number);
    for (const survives of survivals(index)) {
      const fault = compare(await read(folder.cutPower(survives)), acknowledged);
      if (fault !== undefined) result.faults.push(fault);
      result.states += 1;
      result.acknowledged += acknowledged.length;
    }
  }
  await rm(root, { recursive: true });
  return result;
};
