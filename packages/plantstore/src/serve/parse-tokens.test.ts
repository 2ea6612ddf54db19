import { execFile } from 'node:child_process';
import { open, writeFile } from 'node:fs/promises';
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

const fileWith = async (text: string | Buffer) => {
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

  it('loadTokens reads names and last days in UTC, and repeated lines once', async () => {
    const path = await fileWith(
      'one name=greenhouse until=2027-01-31\ntwo until=2028-02-29\nthree\tname=a.b_c-D9\none until=2027-01-31 name=greenhouse\n',
    );
    expect(await entriesOf(path)).toEqual(
      ok([
        { name: 'greenhouse', endsAt: Date.UTC(2027, 1, 1) },
        { endsAt: Date.UTC(2028, 2, 1) },
        { name: 'a.b_c-D9' },
      ]),
    );
  });

  const form =
    'must be a token (letters, digits and -._~+/, with = at the end only), and then name=';
  const unseen = 'has an invisible character, or text that is not UTF-8: write the line again';
  it.each([
    ['s3cr3t nam=x', 1, form],
    ['s3cr3t until=2027-01-31 s3cr3t', 1, form],
    ['s3cr3t name=x until=2027-01-31 name=x', 1, form],
    ['name=s3cr3t', 1, form],
    ['s3cr3t until=2027-01-31\ns3cr3t\n', 2, 'has the token of another line'],
    ['s3cr3t\ns3cr3t name=x\n', 2, 'has the token of another line'],
    ['# none\n\none\ns3cr3t, token\nthree,\n', 4, form],
    ['one\ns3cr3t name', 2, form],
    ['s3cr3t name=two/words', 1, form],
    [`s3cr3t name=${'x'.repeat(33)}`, 1, form],
    ['s3cr3t until=2027-02-29', 1, form],
    ['one\ns3cr3t\u200b', 2, unseen],
  ])(
    'loadTokens rejects the tokens %j, and names line %i without a part of it',
    async (text, line, expected) => {
      const path = await fileWith(text);
      const loaded = await loadTokens({ tokensFile: path, tokens: undefined });
      expect(loaded).toEqual(
        err(expect.stringContaining(`${path}: line ${line} ${expected}`) as unknown),
      );
      expect(JSON.stringify(loaded)).not.toMatch(/s3cr3t|xxx/);
    },
  );

  it.each([
    [Buffer.from('# nothing yet\n'), 'it has no token'],
    [
      Buffer.from('\ufeffs3cr3t\n', 'utf16le'),
      'it is not UTF-8, but UTF-16, for example: save it as UTF-8',
    ],
  ])('loadTokens rejects a file of %s', async (bytes, expected) => {
    const path = await fileWith(bytes);
    expect(await loadTokens({ tokensFile: path, tokens: undefined })).toEqual(
      err(cannotUse(path, expected)),
    );
  });

  const cannotUse = (path: string, reason: string) =>
    `cannot use the tokens file (--tokens-file, PLANTSTORE_TOKENS_FILE): ${path}: ${reason}; name a file with one token per line`;

  // Windows does not have mkfifo.
  it('loadTokens does not wait for a pipe to be written to', requiresPosix, async () => {
    const path = join(dirname(await fileWith('')), 'pipe');
    await promisify(execFile)('mkfifo', [path]);
    // Unblocks a pending open, so that the test can end.
    onTestFinished(async () => (await open(path, 'r+')).close());
    expect(await loadTokens({ tokensFile: path, tokens: undefined })).toEqual(
      err(cannotUse(path, 'it is a pipe or a device')),
    );
  });
});
