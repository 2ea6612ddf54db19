import { makeFaultyDisk } from '@plantstore/test-support/faulty-disk';
import { describe, expect, it } from 'vitest';
import { type Creating, createOnFailingDisk } from '../test/create-on-disk.ts';
import { firstLarge } from '../test/plant-of.ts';
import { inspectStates } from '../test/surviving-states.ts';

/** A file with many pages, so that the log has few of them. */
const made: Creating = { plants: [0, 900], end: 'close' };
const noCompiler = 'this machine has no C compiler to make a faulty disk with';

const scenarios: [string, readonly Creating[]][] = [
  ...[1, 2, 3, 4, 5, 6].map((syncs): [string, readonly Creating[]] => [
    `${syncs} of the log`,
    [made, { fails: `log 5 ${4 + syncs}`, plants: [880, 930], end: 'kill' }],
  ]),
  [
    'the log, and the file when the log is emptied',
    [made, { fails: 'log 5 6,database 1 1', plants: [880, 930], end: 'kill' }],
  ],
  [
    'the file at both attempts to empty the log at the end',
    [made, { fails: 'database 1 2', plants: [880, 930], end: 'close' }],
  ],
  [
    'the log when it is opened, and the file when the log is emptied',
    [
      { plants: [0, 900], end: 'kill' },
      { fails: 'log 1 3,database 1 2', plants: [880, 900], end: 'close' },
    ],
  ],
  [
    'the file and the journal, when it is made',
    [{ fails: 'database 1 1,journal 2 2', plants: [0, 20], end: 'kill' }],
  ],
  ['the folder, once', [{ fails: 'folder 1 1', plants: [0, 20], end: 'kill' }]],
  ['the folder, three times', [{ fails: 'folder 1 3', plants: [0, 20], end: 'kill' }]],
  [
    'the folder, of a file that is there',
    [made, { fails: 'folder 1 2', plants: [880, 900], end: 'kill' }],
  ],
];

describe('a checkpoint between commits', { timeout: 120_000 }, () => {
  it.for([1, 3])(
    'reports that a sync of the file failed (%i times), and a power cut loses no acknowledged plant',
    async (times, { skip }) => {
      const disk = await makeFaultyDisk();
      if (disk === undefined) return skip(noCompiler);
      await createOnFailingDisk(disk, made);
      const fails = `database 1 ${times}`;
      const large = [firstLarge, firstLarge + 80] as const;
      const reasons = await createOnFailingDisk(disk, { fails, plants: large, end: 'kill' });
      expect(reasons).toContain('the database cannot be written: input-output');
      await createOnFailingDisk(disk, { plants: [880, 935], end: 'kill' });
      const operations = await disk.operations();
      const { states, acknowledged, faults } = await inspectStates(operations, {
        step: 250,
        count: 2_500,
      });
      console.log(
        `failed syncs of a checkpoint, ${times}: ${states} states, ${acknowledged} plants acknowledged, ${faults.length} states with a fault`,
      );
      expect(faults).toEqual([]);
    },
  );
});

describe('a power cut loses no acknowledged plant after failed syncs', { timeout: 120_000 }, () => {
  it.for(scenarios)('of %s', async ([name, processes], { skip }) => {
    const disk = await makeFaultyDisk();
    if (disk === undefined) return skip(noCompiler);
    for (const process of processes) await createOnFailingDisk(disk, process);
    // It finds in memory what never reached the disk, and acknowledges it to clients that repeat it.
    await createOnFailingDisk(disk, { plants: [880, 935], end: 'kill' });
    const operations = await disk.operations();
    const { states, acknowledged, faults } = await inspectStates(operations, {
      step: 3,
      count: 90,
    });
    console.log(
      `failed syncs of ${name}: ${states} states, ${acknowledged} plants acknowledged, ${faults.length} states with a fault`,
    );
    expect(faults).toEqual([]);
  });
});
