import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { expect, it } from 'vitest';
import { Rewriter } from './rewriter.ts';

it.each([0, 1, 4_095, 4_096, 5_000, 2 ** 20, 2 ** 20 + 4_097])(
  'a file of %i bytes keeps its content and its size when it is rewritten from any offset',
  async (size) => {
    const folder = await makeFolder();
    const path = join(folder, 'file');
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
