// Mounts a database file and its folder elsewhere, and prints what opening them results in.
// Must run as root in a separate mount namespace. Argument: folder.
import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { checkPlants, openSqliteRepository } from '@plantstore/sqlite';

const makeFolder = (name: string) => {
  const folder = join(process.argv[2] ?? '', name);
  mkdirSync(folder);
  return folder;
};
const mount = (...args: readonly string[]) => execFileSync('mount', args);
const fileIn = (folder: string) => join(folder, 'plants.db');
const open = async (folder: string) => openSqliteRepository({ path: fileIn(folder) });
const kindOf = async (folder: string) =>
  (await open(folder)).match(
    () => 'opened',
    ({ kind }) => kind,
  );

const [original, ofFile, ofFolder] = [makeFolder('a'), makeFolder('b'), makeFolder('c')];
const repository = (await open(original))._unsafeUnwrap();
writeFileSync(fileIn(ofFile), '');
mount('--bind', fileIn(original), fileIn(ofFile));
mount('--bind', original, ofFolder);
const whileOpen = [await kindOf(ofFile), await kindOf(ofFolder)];
await repository.close();
const afterwards = [await kindOf(ofFile), await kindOf(ofFolder)];
const read = checkPlants(fileIn(ofFile))._unsafeUnwrapErr().kind;
process.stdout.write(JSON.stringify({ whileOpen, afterwards, read }));
process.exit();
