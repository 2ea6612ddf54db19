import { open, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { newFolder, runIn } from '../../test/run-in-folder.ts';
import { settingTable } from '../settings/setting-table.ts';

it.each<[readonly string[], readonly string[]]>([
  [['bakcup', 'b.db'], ['unknown command "bakcup"; without one, plantstore serves; see --help']],
  [['import', '--format=csv', '--complete'], ["Unknown option '--complete'; see --help"]],
  [['backup'], ['backup needs TO, the path of a file']],
  [['restore', ''], ['restore needs FROM, the path of a file']],
  [['export', 'out.ndjson'], ['unexpected argument "out.ndjson"; see --help']],
  [
    ['export', '--format', 'xml', '--database', 'plants.db'],
    [
      '--format must be ndjson or csv, not "xml"',
      '--database must be sqlite: and the path of a file, a postgres:// URL, or memory:, not "plants.db"',
    ],
  ],
  [
    ['check', '--database', 'memory:'],
    ['--database must be a database that outlives the process, not memory:'],
  ],
])('the command line names everything that is wrong in %j, with status 2', async (args, faults) => {
  const folder = await newFolder();
  expect(await runIn(folder, args)).toEqual({
    status: 2,
    stdout: '',
    stderr: faults.map((fault) => `plantstore: ${fault}\n`).join(''),
  });
  expect(await readdir(folder)).toEqual([]);
});

it('a command that reads uses the default database if none is named, and creates none', async () => {
  const folder = await newFolder();
  const before = process.cwd();
  onTestFinished(() => process.chdir(before));
  // The clone has a database of `pnpm start`.
  process.chdir(folder);
  const { status, stderr } = await runIn(folder, ['export'], '', {
    PLANTSTORE_DATABASE: undefined,
  });
  expect(status).toBe(1);
  expect(stderr).toContain(
    `${settingTable.database.default.replace('sqlite:', '')} does not exist`,
  );
  expect(await readdir(folder)).toEqual([]);
});

it.each(['check', 'import'])(
  '%s names a PostgreSQL server that cannot be reached, without its password',
  async (name) => {
    const env = { PLANTSTORE_DATABASE: 'postgres://ada:s3cr3t@127.0.0.1:1/garden' };
    const { status, stdout, stderr } = await runIn(
      await newFolder(),
      [name],
      '{"id":1,"name":"a"}',
      env,
    );
    expect([status, stdout]).toEqual([1, '']);
    expect(stderr).toMatch(/^plantstore: .*no database server can be reached.*\n$/);
    expect(stderr).not.toContain('s3cr3t');
  },
);

it('check finds a damaged page, with status 1, and export reports how many plants it read before it', async () => {
  const folder = await newFolder();
  const path = join(folder, 'plants.db');
  const tag = 'y'.repeat(60);
  const lines = Array.from(
    { length: 5_000 },
    (_, id) => `{"id":${id},"name":"x","tag":"${tag}"}\n`,
  );
  await runIn(folder, ['import'], lines.join(''));
  const sound = await runIn(folder, ['check']);
  expect(sound).toMatchObject({ status: 0, stderr: '' });
  expect(sound.stdout).toMatch(/: 5000 plants, \d+ bytes, and 0 in its WAL file\nsound\n$/);

  const file = await open(path, 'r+');
  await file.write(Buffer.alloc(4_096, 0xff), 0, 4_096, 20 * 4_096);
  await file.close();
  const { status, stdout, stderr } = await runIn(folder, ['check']);
  expect([status, stderr]).toEqual([
    1,
    `plantstore: ${path} is damaged: restore a backup, or rescue its plants with sqlite3 .recover from a copy of the file and its WAL\n`,
  ]);
  expect(stdout).toContain('page');
  const exported = await runIn(folder, ['export']);
  expect(exported.status).toBe(1);
  expect(exported.stderr).toMatch(/damaged.*; \d+ plants were read before/);
});

it('export names each row that is no plant, exports the others, and exits with status 1', async () => {
  const folder = await newFolder();
  const path = join(folder, 'plants.db');
  const database = new DatabaseSync(path);
  database.exec('CREATE TABLE plants (id, name, tag)');
  database.exec(
    "INSERT INTO plants VALUES (7, 'Monstera', NULL), (8, NULL, NULL), (9, 'Ficus', '')",
  );
  database.close();
  expect(await runIn(folder, ['export'])).toEqual({
    status: 1,
    stdout: '{"id":7,"name":"Monstera"}\n{"id":9,"name":"Ficus","tag":""}\n',
    stderr: `${path} has a row that is no plant, with the id 8: the name is no text; correct or delete it with sqlite3, in a table with the columns id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT
plantstore: the output is incomplete: rows that are no plants are left out: 1\n`,
  });
});

it('export names the columns of another program, and exports the plants without them', async () => {
  const folder = await newFolder();
  await runIn(folder, ['import'], '{"id":7,"name":"Monstera"}\n');
  const database = new DatabaseSync(join(folder, 'plants.db'));
  for (const name of ['colour', '"size,\n\u001b[2J"'])
    database.exec(`ALTER TABLE plants ADD COLUMN ${name} TEXT`);
  database.close();
  expect(await runIn(folder, ['export'])).toEqual({
    status: 0,
    stdout: '{"id":7,"name":"Monstera"}\n',
    stderr:
      'columns of other programs or versions are left out: "colour, size,\\n\\u001b[2J"\n1 plant exported\n',
  });
});
