import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFaultyDisk } from '@plantstore/test-support/faulty-disk';
import { describe, expect, it } from 'vitest';
import { newFolder, post, startProgram, untilLogged } from './program.ts';
import { stoppingMessage } from '../../packages/plantstore/src/serve/log-messages.ts';

describe('a disk that does not finish a sync', () => {
  it.each([
    ['a second SIGTERM', 'stopped at once', ['SIGTERM', 'SIGTERM']],
    ['the deadline of a stop', 'the store could not be closed in time', ['SIGTERM']],
  ] as const)(
    '%s ends the server with status 1 while a sync hangs',
    async (_, message, signals) => {
      const disk = await makeFaultyDisk();
      if (disk === undefined)
        throw new Error('this machine has no C compiler to build the faulty disk');
      const hangs = join(await newFolder(), 'hangs');
      const server = await startProgram({
        args: ['--database', `sqlite:${disk.path}`, '--shutdown-timeout-ms', '100'],
        env: { ...disk.env, DISK_HANGS: hangs },
      });
      expect(await post(server.url, '{"id":7,"name":"x"}')).toMatchObject({ status: 200 });
      await writeFile(hangs, '');
      const unanswered = post(server.url, '{"id":8,"name":"x"}').catch(() => 'no response');
      for (const signal of signals) {
        server.process.kill(signal);
        await untilLogged(server, stoppingMessage);
      }
      expect(await server.exited).toBe(1);
      expect(server.stdout()).toContain(message);
      expect(await unanswered).not.toMatchObject({ status: 200 });
      await rm(hangs);
      const again = await startProgram({ args: ['--database', `sqlite:${disk.path}`] });
      expect(await post(again.url, '{"id":7,"name":"other"}')).toMatchObject({ error: 1401 });
    },
  );
});
