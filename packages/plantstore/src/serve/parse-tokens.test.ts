import { execFile } from 'node:child_process';
import { open, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { err, ok } from 'neverthrow';
import { requiresPosix } from '@plantstore/test-support/requires';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadTokens } from './inputs.ts';
import { newFolder } from '../../test/run-in-folder.ts';

/** Returns the names and ends of loaded tokens. */
const entriesOf = async (path: string | undefined) =>
  (await loadTokens({ tokensFile: path, tokens: undefined })).map(({ entries }) => entries);

const fileWith = async (text: string) => {
  const folder = await newFolder();
  const path = join(folder, 'tokens');
  await writeFile(path, text);
  return path;
};

describe('loadTokens', () => {
  it('loadTokens reads one token per line, and skips comments, empty lines and all kinds of line ends', async () => {
    const path = await fileWith('\ufeff# for the greenhouse\r\none\r\n\r\n  two==  \n');
    const loaded = (await loadTokens({ tokensFile: path, tokens: undefined }))._unsafeUnwrap();
    expect(['one', 'two==', 'two'].map((token) => loaded.authenticate(token))).toEqual([
      true,
      true,
      false,
    ]);
    expect(loaded.entries).toHaveLength(2);
  });

  it('loadTokens reads names and last days in any order, in UTC', async () => {
    const path = await fileWith(
      'one name=greenhouse until=2027-01-31\none until=2027-01-31\tname=greenhouse\ntwo until=2028-02-29\nthree\tname=a.b_c-D9\nthree name=a.b_c-D9\n',
    );
    expect(await entriesOf(path)).toEqual(
      ok([
        { name: 'greenhouse', endsAt: Date.UTC(2027, 1, 1) },
        { name: 'greenhouse', endsAt: Date.UTC(2027, 1, 1) },
        { endsAt: Date.UTC(2028, 2, 1) },
        { name: 'a.b_c-D9' },
        { name: 'a.b_c-D9' },
      ]),
    );
  });

  it.each([
    ['s3cr3t nam=x', 'has an unknown or repeated word in line 1 (word 2): '],
    ['s3cr3t until=2027-01-31 s3cr3t', 'has an unknown or repeated word in line 1 (word 3): '],
    ['s3cr3t name=x until=2027-01-31 name=x', 'word in line 1 (word 4): '],
    ['until=2027-01-31 name=x s3cr3t', 'has no bearer token in line 1: '],
    ['name=s3cr3t', 'has no bearer token in line 1: '],
    ['one\ns3cr3t name=', 'has an invalid name in line 2: '],
    ['s3cr3t name=two/words', 'has an invalid name in line 1: '],
    [`s3cr3t name=${'x'.repeat(33)}`, 'has an invalid name in line 1: '],
    ['s3cr3t until=', 'has an invalid date in line 1: '],
    ['s3cr3t until=2027-02-29', 'has an invalid date in line 1: '],
    ['s3cr3t until=2027-1-31', 'has an invalid date in line 1: '],
    ['s3cr3t until=2027-01-31T00:00Z', 'has an invalid date in line 1: '],
    ['s3cr3t until=s3cr3t', 'has an invalid date in line 1: '],
    ['s3cr3t\none\ns3cr3t until=2027-01-31', 'has a token of an earlier line'],
    ['s3cr3t name=a\ns3cr3t name=b', 'has a token of an earlier line'],
    ['one name=\ntwo until=x\nthree name=*', 'has an invalid name in line 1, 3: '],
    ['one\n' + 'not,valid\n'.repeat(9), 'has no bearer token in line 2, 3, 4, 5, 6 and 4 more: '],
    ['not,valid\n'.repeat(5), 'has no bearer token in line 1, 2, 3, 4, 5: '],
    ['one name=\ntwo until=x', '; it has an invalid date in line 2: '],
  ])(
    'loadTokens rejects the line in %j, without repeating a part of it',
    async (text, expected) => {
      const loaded = await loadTokens({ tokensFile: await fileWith(text), tokens: undefined });
      expect(loaded).toEqual(err(expect.stringContaining(expected) as unknown));
      expect(JSON.stringify(loaded)).not.toMatch(/s3cr3t|xxx/);
    },
  );

  it.each([
    ['one\ns3cr3t, token\nthree,\n', 'has no bearer token in line 2, 3'],
    ['# nothing yet\n', 'has no token: write one per line'],
  ])('loadTokens rejects a file of %j, without repeating a token', async (text, expected) => {
    const path = await fileWith(text);
    const loaded = await loadTokens({ tokensFile: path, tokens: undefined });
    expect(loaded).toEqual(err(expect.stringContaining(`${path} ${expected}`) as unknown));
    expect(JSON.stringify(loaded)).not.toContain('s3cr3t');
  });

  it.each([
    ['/no/such/file', 'does not exist'],
    [tmpdir(), 'is a folder'],
  ])('loadTokens reports why %s cannot be read', async (path, reason) => {
    expect(await loadTokens({ tokensFile: path, tokens: undefined })).toEqual(
      err(
        `cannot use the tokens file (--tokens-file, PLANTSTORE_TOKENS_FILE): ${path} ${reason}; name a file with one token per line`,
      ),
    );
  });

  // Windows does not have mkfifo.
  it('loadTokens does not wait for a pipe to be written to', requiresPosix, async () => {
    const path = join(dirname(await fileWith('')), 'pipe');
    await promisify(execFile)('mkfifo', [path]);
    // Unblocks a pending open, so that the test can end.
    onTestFinished(async () => (await open(path, 'r+')).close());
    expect(await loadTokens({ tokensFile: path, tokens: undefined })).toEqual(
      err(
        `cannot use the tokens file (--tokens-file, PLANTSTORE_TOKENS_FILE): ${path} is a pipe or a device, not a file; name a file with one token per line`,
      ),
    );
  });

  it('loadTokens loads no tokens if none are set', async () => {
    expect(await entriesOf(undefined)).toEqual(ok([]));
  });
});
