import type { NewPlant } from '@plantstore/core';
import { toBatch } from '../src/open/columns.ts';
import { openAsOwner } from '../src/open/owned-database.ts';
import { Statements } from '../src/open/statements.ts';

/** Creates a database file, or opens it, and creates plants in it. */
export function makeStore(path: string, stored: readonly NewPlant[] = []): void {
  const store = openInThisThread(path);
  store.createAll(stored);
  store.close();
}

/** Opens a database file as its owner, and counts its plants. */
export function countPlants(path: string): number {
  const store = openInThisThread(path);
  const { found } = store.database.prepare('SELECT count(*) AS found FROM plants').get() ?? {};
  store.close();
  return Number(found);
}

/** Opens a database file as a commit thread does. */
export function openInThisThread(path: string) {
  const opened = openAsOwner({ kind: 'create', path });
  if (opened.isErr()) throw new Error(opened.error.kind);
  const database = opened.value;
  const statements = new Statements(database);
  const createAll = (batch: readonly NewPlant[]): void => {
    const reasons = [...(statements.createAll(toBatch(batch))?.values() ?? ['table-altered'])];
    if (reasons.some((reason) => reason !== 'unchanged')) throw new Error('a plant is rejected');
  };
  return { database, createAll, close: () => database.close() };
}

/** Returns plants with the ids from `first` to the one before `end`. */
export function plants(first: number, end: number, name = 'x'.repeat(100)): NewPlant[] {
  return Array.from({ length: end - first }, (_, index) => ({ id: BigInt(first + index), name }));
}
