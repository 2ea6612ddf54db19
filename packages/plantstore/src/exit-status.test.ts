import { PassThrough, Writable } from 'node:stream';
import { expect, it } from 'vitest';
import { createExitStatus } from './exit-status.ts';

it.each([0, 1, 2, 3])(
  'a command with the status %i ends after both outputs have written what they were given',
  async (status) => {
    const written: string[] = [];
    const slow = new Writable({
      write(chunk: Buffer, _encoding, onWritten) {
        setTimeout(() => {
          written.push(chunk.toString());
          onWritten();
        }, 5);
      },
    });
    const exitStatusOf = createExitStatus(new PassThrough().resume(), slow);
    for (let line = 1; line <= 5; line += 1) slow.write(`line ${line}\n`);
    expect(await exitStatusOf(status)).toBe(status);
    expect(written).toContain('line 5\n');
  },
);
