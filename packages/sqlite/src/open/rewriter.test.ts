import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { expect, it } from 'vitest';
import { runInOtherProgram } from '../../test/other-program.ts';
import { openInThisThread } from '../../test/store-file.ts';
import { Rewriter } from './rewriter.ts';

it.each([0, 1, 4_096, 5_000, 2 ** 20 + 4_097])(
  'a file of %i bytes keeps its content and its size when it is rewritten from any offset',
  async (size) => {
    const path = join(await makeFolder(), 'file');
    const content = Buffer.from(Array.from({ length: size }, (_, at) => at % 251));
    await writeFile(path, content);
    for (const from of [0, 1, 4_096, 5_000].filter((offset) => offset <= size)) {
      const rewriter = new Rewriter();
      rewriter.rewrite(path, from);
      rewriter.close();
      expect((await readFile(path)).equals(content)).toBe(true);
    }
  },
);

it('no other program uses a file while it is rewritten', async () => {
  const path = join(await makeFolder(), 'plants.db');
  const { database, close } = openInThisThread(path);
  const read = () => runInOtherProgram(path, 'SELECT count(*) AS plants FROM plants');
  const seen: unknown[] = [];
  const busy = database.withExclusiveLock(() => {
    database.rewriteTail();
    seen.push(read());
  });
  expect([busy, ...seen, read()]).toEqual([undefined, 'database is locked', [{ plants: 0 }]]);
  close();
});
