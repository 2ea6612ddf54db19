import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Operation } from '@plantstore/test-support/disk-trace';
import { createFolder, type Survives } from '@plantstore/test-support/power-cut';
import { openDatabaseFile } from '../src/database-file.ts';
import type { Database } from '../src/node-sqlite.ts';
import { plantOf } from './plant-of.ts';

/** A fault in the files after a power cut. */
type Fault = { readonly fault: string; readonly acknowledged: number; readonly missing: number };

const contentOf = (database: Database): { integrity: unknown; names: Map<bigint, unknown> } => {
  const [integrity] = Object.values(database.prepare('PRAGMA integrity_check').get() ?? {});
  const select = database.prepare('SELECT id, name FROM plants');
  select.setReadBigInts(true);
  return {
    integrity,
    names: new Map(select.all().map((row) => [row['id'] as bigint, row['name']])),
  };
};

/** Opens the files after a power cut, and compares them with the plants that were acknowledged before it. */
export const faultIn = (path: string, acknowledged: readonly number[]): Fault | undefined => {
  const createFault = (fault: string, missing: number): Fault => ({
    fault,
    acknowledged: acknowledged.length,
    missing,
  });
  let database: Database | undefined;
  try {
    const opened = openDatabaseFile(path, { mayBeNew: true, mustRewrite: false });
    if ('kind' in opened) return createFault(opened.kind, acknowledged.length);
    database = opened;
    const { integrity, names } = contentOf(database);
    const missing = acknowledged.map(plantOf).filter(({ id, name }) => names.get(id) !== name);
    if (integrity !== 'ok') return createFault(String(integrity), missing.length);
    return missing.length > 0 ? createFault('missing plants', missing.length) : undefined;
  } catch (thrown) {
    return createFault(String(thrown), acknowledged.length);
  } finally {
    database?.close();
  }
};

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

/** Result of all inspected states. */
export type States = { states: number; acknowledged: number; faults: Fault[] };

/**
 * Simulates a power cut after every `step`-th of `count` operations since the first failed sync, and at the end.
 * Inspects the synced data with none, all or a random part of the data that was not synced.
 */
export const inspectStates = async (
  operations: readonly Operation[],
  { step, count }: { readonly step: number; readonly count: number },
): Promise<States> => {
  const folder = createFolder();
  const result: States = { states: 0, acknowledged: 0, faults: [] };
  const first = operations.findIndex(({ kind }) => kind === 'failed sync');
  if (first === -1) throw new Error('no sync failed');
  const root = await mkdtemp(join(tmpdir(), 'plantstore-'));
  for (const [index, operation] of operations.entries()) {
    folder.apply(operation);
    const isChosen = index >= first && index < first + count && (index - first) % step === 0;
    if (!isChosen && index < operations.length - 1) continue;
    const acknowledged = folder.read('acknowledged').split('\n').slice(0, -1).map(Number);
    for (const survives of [() => false, () => true, decisions(index)]) {
      const state = await mkdtemp(join(root, 'state-'));
      for (const [name, content] of folder.cutPower(survives)) {
        await writeFile(join(state, name), content);
      }
      const fault = faultIn(join(state, 'plants.db'), acknowledged);
      if (fault !== undefined) result.faults.push(fault);
      result.states += 1;
      result.acknowledged += acknowledged.length;
      await rm(state, { recursive: true });
    }
  }
  await rm(root, { recursive: true });
  return result;
};
