import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSqliteRepository } from '@plantstore/sqlite';

// Runs in a separate mount namespace, as root.
const folder = process.argv[2] ?? '';
// With a space, which the list of mounts escapes.
const [original, ofFile, ofFolder] = ['original', 'of a file', 'of a folder'].map((name) =>
  join(folder, name),
) as [string, string, string];
for (const one of [original, ofFile, ofFolder]) mkdirSync(one);

const bind = (from: string, to: string) => execFileSync('mount', ['--bind', from, to]);
const open = async (inFolder: string) =>
  openSqliteRepository({ path: join(inFolder, 'plants.db') });
const kindOf = async (inFolder: string) => (await open(inFolder))._unsafeUnwrapErr().kind;

const repository = (await open(original))._unsafeUnwrap();
writeFileSync(join(ofFile, 'plants.db'), '');
bind(join(original, 'plants.db'), join(ofFile, 'plants.db'));
bind(original, ofFolder);
const whileOpen = { ofFile: await kindOf(ofFile), ofFolder: await kindOf(ofFolder) };
await repository.close();
const afterwards = { ofFile: await kindOf(ofFile), ofFolder: (await open(ofFolder)).isOk() };
process.stdout.write(JSON.stringify({ whileOpen, afterwards }));
process.exit();
