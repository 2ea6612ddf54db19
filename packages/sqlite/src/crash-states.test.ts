import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Operation } from '@plantstore/test-support/disk-trace';
import { type FaultyDisk, faultyDisk } from '@plantstore/test-support/faulty-disk';
import { runsAll } from '@plantstore/test-support/sample';
import { describe, expect, it } from 'vitest';
import { createOnFailingDisk, importOnDisk, runStepsOnDisk } from '../test/create-on-disk.ts';
import { plantOf } from '../test/plant-of.ts';
import { inspectStates, noneAllOrSome } from '../test/surviving-states.ts';

/** Returns the operations without the syncs of the folder, or of files, as if they were missing in the code. */
const withoutSyncs = (operations: readonly Operation[], of: 'folder' | 'files') =>
  operations.filter(({ kind, inode }) => kind !== 'sync' || (inode === 0n) !== (of === 'folder'));

const scenarios: Record<string, (disk: FaultyDisk) => Promise<unknown>> = {
  'creating a database, a checkpoint, and a commit after it': async (disk) => {
    await createOnFailingDisk(disk, { plants: [0, 12], end: 'close' });
    await createOnFailingDisk(disk, { plants: [8, 20], end: 'kill' });
  },
  'the migration of a file of schema version 0': async (disk) => {
    const older =
      'CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT) STRICT';
    await runStepsOnDisk(disk, [older, 'close']);
    await createOnFailingDisk(disk, { plants: [0, 12], end: 'kill' });
  },
  'an import': async (disk) => {
    const lines = Array.from({ length: 400 }, (_, number) => {
      const { id, name } = plantOf(number);
      return `{"id":${id},"name":"${name}"}\n`;
    });
    const input = join(disk.path, '..', '..', 'plants.ndjson');
    await writeFile(input, lines.join(''));
    await importOnDisk(disk, input, 400);
  },
};

/** The states after each operation, or after each fifth one. */
const choice = { first: 0, step: runsAll ? 1 : 5, count: Infinity, survivals: noneAllOrSome };

describe('a kill or a power cut', () => {
  it.for(Object.entries(scenarios))(
    'a crash at each write and sync of %s leaves files that open with every acknowledged plant, and each kind of sync is needed',
    async ([name, run], { skip }) => {
      const disk = await faultyDisk(skip);
      await run(disk);
      const operations = await disk.operations();
      const { states, acknowledged, faults } = await inspectStates(operations, choice);
      expect(faults).toEqual([]);
      expect(acknowledged).toBeGreaterThan(0);
      const controls: number[] = [];
      for (const of of ['folder', 'files'] as const) {
        // At the end, nothing else can make the data durable.
        const control = withoutSyncs(operations, of);
        const found = await inspectStates(control, { ...choice, first: control.length - 1 });
        controls.push(found.faults.length);
      }
      console.log(
        `${name}: ${states} states of the files, 0 with a fault; without syncs of the folder, of files: ${controls.join(', ')} in the end`,
      );
      expect(Math.min(...controls)).toBeGreaterThan(0);
    },
  );
});
