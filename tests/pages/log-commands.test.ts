import { execFileSync, spawnSync } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { requires } from '@plantstore/test-support/requires';
import { expect, it } from 'vitest';
import { newFolder } from '../black-box/program.ts';
import { read } from '../docs/pages.ts';

/** The journal of a real unit, with lines of systemd and of standard error. */
const journal = fileURLToPath(new URL('journal.txt', import.meta.url));

const [, block = ''] =
  /^```sh\n(# Responses by status.*?)^```$/ms.exec(read('docs/operating.md')) ?? [];
const commands = block.split('\n').filter((line) => line.startsWith('journalctl'));

const isInstalled = spawnSync('jq', ['--version']).error === undefined;

it(
  'the commands for the log read a journal with lines of systemd',
  requires(isInstalled, 'jq is not installed'),
  async () => {
    const folder = await newFolder();
    await writeFile(join(folder, 'journalctl'), `#!/bin/sh\ncat '${journal}'\n`, { mode: 0o755 });
    const env = { PATH: `${folder}:${process.env['PATH']}` };
    const run = (command = '') =>
      execFileSync('bash', ['--norc', '-e', '-o', 'pipefail', '-c', command], { env })
        .toString()
        .trim()
        .split(/\s*\n\s*/);
    expect(commands).toHaveLength(3);
    expect(run(commands[0])).toEqual(['2 200 -', '1 400 1401', '2 401 2402']);
    const expired = '"tokens of the file have expired and are rejected"';
    expect(run(`${commands[1]} | jq .message`)).toEqual([expired, expired]);
    expect(run(commands[2])).toEqual(['3 - 127.0.0.1', '2 greenhouse 127.0.0.1']);
  },
);
