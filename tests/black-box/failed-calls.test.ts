import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { makeFaultyDisk } from '@plantstore/test-support/faulty-disk';
import { runsAll, sample } from '@plantstore/test-support/sample';
import { it } from 'vitest';

const program = fileURLToPath(new URL('fail-each-call.ts', import.meta.url));

/** A task while one system call failed (fail-each-call.ts). */
type Line = {
  readonly error: string;
  readonly name: string;
  readonly call: number;
  readonly done: boolean;
  readonly messages: string;
  readonly faults: readonly string[];
};

/** What a message must contain: the file, or the stream, and the cause. */
const file = /plants\.db|copy\.db|in\.ndjson|standard output|stopped at line/;
const cause =
  /disk reports an error|is full|quota|cannot be opened|cannot be locked|cannot be written|read-only|too many|damaged, or its disk/;

const isExplained = ({ done, messages }: Line): boolean =>
  done || (file.test(messages) && cause.test(messages) && !/share memory|UNKNOWN/.test(messages));

const minimum = { backup: 30, restore: 30, check: 20, export: 20, import: 30, store: 30 };

it.concurrent.for(sample(Object.entries(minimum), 2))(
  '%s: each failed system call loses no plant, is reported with its file and cause, and leaves nothing that prevents recovery',
  async ([task, least], { expect, onTestFinished, skip }) => {
    const disk = await makeFaultyDisk(0, onTestFinished);
    if (disk === undefined) return skip('this machine has no C compiler to build the faulty disk');
    const folder = dirname(disk.path);
    const seed = runsAll ? String(1 + Math.floor(Math.random() * 2 ** 31)) : '1';
    const output = await open(join(folder, 'out'), 'a');
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', program, folder, task, seed],
      {
        env: { ...process.env, ...disk.env, DISK_FAILED: join(folder, '..', 'failed') },
        stdio: ['ignore', output.fd, 'inherit', 'pipe'],
      },
    );
    const exited = once(child, 'exit');
    const printed = await text(child.stdio[3] as Readable);
    expect(await exited).toEqual([0, null]);
    await output.close();
    const lines = printed
      .split('\n')
      .slice(0, -1)
      .map((line) => JSON.parse(line) as Line);
    console.log(`${task}: ${lines.length} failed calls, seed ${seed}`);
    expect(lines.filter((line) => line.faults.length > 0 || !isExplained(line))).toEqual([]);
    expect(lines.length).toBeGreaterThan(runsAll ? least : 5);
  },
);
