import { type FaultyDisk, faultyDisk } from '@plantstore/test-support/faulty-disk';
import { sample } from '@plantstore/test-support/sample';
import { describe, expect, it } from 'vitest';
import { type Creating, createOnFailingDisk, runStepsOnDisk } from '../../test/create-on-disk.ts';
import { firstHuge, firstLarge } from '../../test/plant-of.ts';
import {
  firstFailedSync,
  inspectStates,
  noneAllOrSome,
  sampleOf,
} from '../../test/surviving-states.ts';

/** Creates a file with many pages, so that later commits write only some of them. */
const initial: Creating = { plants: [0, 900], end: 'close', clients: 900 };

/** A process of a store, or the steps of another program. */
type Process = Creating | readonly string[];

const scenarios: [string, readonly Process[]][] = [
  // 3 is first, in the sample: SQLite recovers from one failed sync itself.
  ...[3, 1, 2, 4, 5, 6].map((syncs): [string, readonly Process[]] => [
    `${syncs} of the WAL file`,
    [initial, { fails: `wal 5 ${4 + syncs}`, plants: [880, 930], end: 'kill' }],
  ]),
  [
    'the WAL file, and the database file at a checkpoint',
    [initial, { fails: 'wal 5 6,database 1 1', plants: [880, 930], end: 'kill' }],
  ],
  // Without its -shm file, no checkpoint runs.
  ...['-owner', '-wal'].map((name): [string, readonly Process[]] => [
    `the database file at a checkpoint on close, whose ${name} file was removed`,
    [initial, { fails: 'database 1 1', plants: [880, 930], end: `remove ${name}` }],
  ]),
  [
    'the database file at both checkpoints on close',
    [initial, { fails: 'database 1 2', plants: [880, 930], end: 'close' }],
  ],
  [
    'the database file at a checkpoint between commits, and an exit without a close',
    [initial, { fails: 'database 1 1', plants: [firstHuge, firstHuge + 1], end: 'exit' }],
  ],
  [
    'the database file at a checkpoint on close, then another program opens it',
    [
      initial,
      { fails: 'database 1 1', plants: [880, 930], end: 'close' },
      ['SELECT count(*) FROM plants', 'close'],
    ],
  ],
  [
    'the WAL file at open, and the database file at a checkpoint',
    [
      { plants: [0, 900], end: 'kill' },
      { fails: 'wal 1 3,database 1 2', plants: [880, 900], end: 'close' },
    ],
  ],
  ...['direct 1 1', 'direct 1 9', 'fallback 1 2'].flatMap(
    (rewrite): [string, readonly Process[]][] => [
      [
        `the database file at a checkpoint on close, then of its rewriting (${rewrite})`,
        [initial, { fails: `database 1 1,${rewrite}`, plants: [880, 930], end: 'close' }],
      ],
      [
        `the database file at both checkpoints on close, then of rewriting at open (${rewrite})`,
        [
          initial,
          { fails: 'database 1 2', plants: [880, 930], end: 'close' },
          { fails: rewrite, plants: [920, 930], end: 'kill' },
        ],
      ],
    ],
  ),
  [
    'the database file and its rollback journal, at creation',
    [{ fails: 'database 1 1,journal 2 2', plants: [0, 20], end: 'kill' }],
  ],
  ['the folder, three times', [{ fails: 'folder 1 3', plants: [0, 20], end: 'kill' }]],
  ['the folder, once', [{ fails: 'folder 1 1', plants: [0, 20], end: 'kill' }]],
  [
    'the folder of an existing file',
    [initial, { fails: 'folder 1 2', plants: [880, 900], end: 'kill' }],
  ],
  // Last, because Node 22 records the removal, and a power cut before the copy then loses plants.
  ...[1, 2].map((times): [string, readonly Process[]] => [
    `the database file, when the plants of a removed WAL file are copied to it (${times} times)`,
    [initial, { fails: `database 1 ${times}`, plants: [880, 930], end: 'lose -wal' }],
  ]),
  [
    'the database file, when the plants of a removed WAL file are copied to it, and a close',
    [initial, { fails: 'database 1 1', plants: [880, 930], end: 'fail -wal' }],
  ],
];

describe('checkpoint between commits', () => {
  // 1 is first, in the sample: three failures do not show whether the pages of the checkpoint are rewritten.
  it.for(sample([1, 3], 2))(
    'a checkpoint between commits reports a failed sync of the database file (%i times), and a power cut loses no acknowledged plant',
    async (times, { skip }) => {
      const disk = await faultyDisk(skip);
      await createOnFailingDisk(disk, initial);
      const fails = `database 1 ${times}`;
      const large = [firstLarge, firstLarge + 60] as const;
      const reasons = await createOnFailingDisk(disk, { fails, plants: large, end: 'kill' });
      expect(reasons.join()).toContain('input-output');
      await createOnFailingDisk(disk, { plants: [880, 935], end: 'kill' });
      await expectNoLoss(disk, `a checkpoint, ${times}`, 250, 2_500);
    },
  );
});

describe('a power cut loses no acknowledged plant after failed syncs', () => {
  // One of the folder is in the sample.
  it.for(sample(scenarios, 7))(
    'a power cut loses no acknowledged plant after failed syncs of %s',
    async ([name, processes], { skip }) => {
      const disk = await faultyDisk(skip);
      for (const process of processes) {
        if ('plants' in process) await createOnFailingDisk(disk, process);
        else await runStepsOnDisk(disk, process);
      }
      // It reads data from the page cache that is not on the disk, and acknowledges it to clients that retry.
      await createOnFailingDisk(disk, { plants: [880, 935], end: 'kill' });
      await expectNoLoss(disk, name, 3, 90);
    },
  );
});

/** Expects every acknowledged plant in states of the files after power cuts since the first failed sync. */
async function expectNoLoss(disk: FaultyDisk, what: string, step: number, count: number) {
  const operations = await disk.operations();
  const first = firstFailedSync(operations);
  const { states, acknowledged, faults } = await inspectStates(
    operations,
    sampleOf({ first, survivals: noneAllOrSome, step, count }),
  );
  console.log(
    `failed syncs of ${what}: ${states} states, ${acknowledged} plants acknowledged, ${faults.length} states with a fault`,
  );
  expect(faults).toEqual([]);
}
