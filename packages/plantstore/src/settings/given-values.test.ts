import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { newFolder, runIn } from '../../test/run-in-folder.ts';
import { readSettings } from './settings.ts';

const fileWith = async (content: string | Buffer): Promise<string> => {
  const path = join(await newFolder(), 'settings.env');
  await writeFile(path, content);
  return path;
};

const readWith = async (
  content: string | Buffer,
  env: Record<string, string> = {},
  ...flags: readonly string[]
) => {
  const path = await fileWith(content);
  const invocation = readSettings(['--env-file', path, ...flags], env);
  if (invocation.kind === 'invalid') {
    return { faults: invocation.faults.map((fault) => fault.replaceAll(path, 'FILE')) };
  }
  return 'settings' in invocation ? invocation.settings : {};
};

it('the file of --env-file is read as Node reads it, with any line ends', async () => {
  const lines = [
    'PLANTSTORE_BASE_PATH=/garden # ours',
    '# a comment',
    '',
    "export PLANTSTORE_DATABASE = 'postgres://ada:a;b#c $(id)@db/garden'  # quoted",
    'PLANTSTORE_TOKENS="one,two"',
    'PLANTSTORE_LOG=',
    'PLANTSTORE_PORT=1',
    '\tPLANTSTORE_PORT=8080 ',
    'PLANTSTORE_METRICS=on',
    'export PLANTSTORE_METRICS= # the default',
  ];
  for (const lineEnd of ['\n', '\r\n']) {
    expect(await readWith(lines.join(lineEnd))).toMatchObject({
      basePath: '/garden',
      database: { kind: 'postgres', url: 'postgres://ada:a;b#c $(id)@db/garden' },
      tokens: { entries: [{}, {}] },
      port: 8080,
      metrics: false,
    });
  }
});

it('a flag takes precedence over a variable, and a variable that is not empty over the file', async () => {
  const file = 'PLANTSTORE_PORT=1\nPLANTSTORE_HOST=file\nPLANTSTORE_BASE_PATH=/file\n';
  const env = { PLANTSTORE_PORT: '2', PLANTSTORE_HOST: 'variable', PLANTSTORE_BASE_PATH: '' };
  expect(await readWith(file, env, '--port=3')).toMatchObject({
    port: 3,
    host: 'variable',
    basePath: '/file',
  });
});

const form = "must be NAME=value, or NAME='value' for one with a #";
it.each([
  [
    'PLANTSTORE_PROT=s3cr3t',
    'FILE has the unknown variable PLANTSTORE_PROT; it may have settings only: see --help',
  ],
  ['s3cr3t=', 'FILE has other variables; it may have settings only: see --help'],
  [
    'PGPASSWORD=s3cr3t',
    'FILE has PGPASSWORD: set it in the environment, or name a pass file in PGPASSFILE there',
  ],
  ['\ufeffPLANTSTORE_PORT=1', 'FILE must be UTF-8 without a byte order mark'],
  [Buffer.from('PLANTSTORE_PORT=1', 'utf16le'), 'FILE must be UTF-8 without a byte order mark'],
  [
    'PLANTSTORE_LOG=json # ours\nPLANTSTORE_DATABASE=postgres://ada:s3#cr3t@db/garden',
    `line 2 of FILE ${form}`,
  ],
  ['PLANTSTORE_BASE_PATH=#s3cr3t', `line 1 of FILE ${form}`],
  ["PLANTSTORE_TOKENS='s3cr3t", `line 1 of FILE ${form}`],
  ['PLANTSTORE_TOKENS="one"s3cr3t', `line 1 of FILE ${form}`],
  ['# ours\r\n\r\nPLANTSTORE_TOKENS: s3cr3t', `line 3 of FILE ${form}`],
  ['PLANTSTORE_BASE_PATH=/a\rb', `line 1 of FILE ${form}`],
])('a fault of the file is named without a value: %j', async (file, fault) => {
  expect(await readWith(file)).toEqual({ faults: [fault] });
});

it('a wrong value of the file is named with its variable and the file', async () => {
  const file = Buffer.from('PLANTSTORE_PORT=x\nPLANTSTORE_TOKENS_FILE=pfl\xe4nze\n', 'latin1');
  const { faults = [] } = (await readWith(file)) as { readonly faults?: readonly string[] };
  expect(faults[0]).toBe('PLANTSTORE_PORT in FILE must be a whole number from 0 to 65535, not "x"');
  expect(faults[1]).toMatch(/^PLANTSTORE_TOKENS_FILE in FILE must have no .* not "pfl\\ufffdnze"$/);
});

it.each([
  [
    '/no/settings.env',
    expect.stringMatching(/^--env-file cannot be read: ENOENT: .* '\/no\/settings\.env'$/),
  ],
  ['', expect.stringMatching(/^--env-file cannot be read: ENOENT: .* ''$/)],
  ['/dev/null', '--env-file must be a regular file, not /dev/null'],
  ['s.env\r', expect.stringMatching(/^--env-file must have no .*, not "s\.env\\r"$/)],
])('--env-file reports that %j cannot be read', (path, fault) => {
  expect(readSettings([`--env-file=${path}`], {})).toMatchObject({ faults: [fault] });
});

it('a command reads the database from the file of --env-file, and its faults', async () => {
  const folder = await newFolder();
  const env = { PLANTSTORE_DATABASE: '' };
  const file = await fileWith(
    `PLANTSTORE_DATABASE=sqlite:${join(folder, 'a.db')}\nPLANTSTORE_PORT=x\n`,
  );
  await runIn(folder, ['import', '--env-file', file], '{"id":1,"name":"a"}', env);
  const checked = await runIn(folder, ['check', `--env-file=${file}`], '', env);
  expect(checked.stdout).toMatch(/a\.db: 1 plant, /);
  const wrong = await fileWith('PLANTSTORE_DATABAES=sqlite:a.db\n');
  expect(await runIn(folder, ['check', '--env-file', wrong], '', env)).toEqual({
    status: 2,
    stdout: '',
    stderr: `plantstore: ${wrong} has the unknown variable PLANTSTORE_DATABAES; it may have settings only: see --help\n`,
  });
});

it.each([
  ['backup', 'a.db\r'],
  ['restore', '\u200ba.db'],
  ['import', 'pfl\ufffdnze.csv'],
  ['backup', 'a.db '],
])('%s rejects the file name %j', async (name, file) => {
  const { status, stderr } = await runIn(await newFolder(), [name, file]);
  expect(status).toBe(2);
  expect(stderr).toMatch(/^plantstore: the file name must have no [ -~]+, not "[ -~]+"\n$/);
});
