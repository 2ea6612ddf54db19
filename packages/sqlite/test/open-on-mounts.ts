import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkPlants, openSqliteRepository } from '@plantstore/sqlite';

// Runs in a separate mount namespace, as root.
const folder = process.argv[2] ?? '';
const names = ['original', 'of a file', 'of a folder', 'covered', 'read-only'];
const folders = names.map((name) => join(folder, name));
const [original, ofFile, ofFolder, covered, readOnlyFolder] = folders as [
  string,
  string,
  string,
  string,
  string,
];
for (const one of folders) mkdirSync(one);

const mount = (...args: readonly string[]) => execFileSync('mount', args);
const open = async (inFolder: string) =>
  openSqliteRepository({ path: join(inFolder, 'plants.db') });
const kindOf = async (inFolder: string) => (await open(inFolder))._unsafeUnwrapErr().kind;

const repository = (await open(original))._unsafeUnwrap();
for (const one of [ofFile, covered]) {
  writeFileSync(join(one, 'plants.db'), '');
  mount('--bind', join(original, 'plants.db'), join(one, 'plants.db'));
}
mount('-t', 'tmpfs', 'none', covered);
writeFileSync(join(covered, 'plants.db'), '');
mount('--bind', original, ofFolder);
const whileOpen = { ofFile: await kindOf(ofFile), ofFolder: await kindOf(ofFolder) };
await repository.close();
const afterwards = { ofFile: await kindOf(ofFile), ofFolder: (await open(ofFolder)).isOk() };
const readOfFile = checkPlants(join(ofFile, 'plants.db'))._unsafeUnwrapErr().kind;
const coveredOpen = await open(covered);
mount('-t', 'tmpfs', 'none', covered);
const hidden = await coveredOpen._unsafeUnwrap().create({ id: 7n, name: 'Monstera' });
const reasonOfHidden = hidden._unsafeUnwrapErr();
mount('-t', 'tmpfs', '-o', 'ro', 'none', readOnlyFolder);
const readOnly = (await open(readOnlyFolder))._unsafeUnwrapErr().message;
process.stdout.write(
  JSON.stringify({ whileOpen, afterwards, readOfFile, readOnly, reasonOfHidden }),
);
process.exit();
