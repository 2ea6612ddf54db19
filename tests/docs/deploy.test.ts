import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { errorMessages, errorTable } from '@plantstore/core/errors';
import { expect, it } from 'vitest';
import { settingNames, variableOf } from '../../packages/server/src/host/setting-table.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const files = globSync(['deploy/**/*', 'docs/operating.md'], { cwd: root, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name).slice(root.length))
  .toSorted();

const variables = new Set(settingNames.map(variableOf));

it.each(files)('%s sets only variables that the server reads', (file) => {
  const named = readFileSync(join(root, file), 'utf8').match(/PLANTSTORE_\w+/g) ?? [];
  expect(named.filter((name) => !variables.has(name))).toEqual([]);
});

it.each([
  ['deploy/nginx.conf', 'body-too-large'],
  ['deploy/nginx.conf', 'unavailable'],
  ['deploy/Caddyfile', 'unavailable'],
] as const)('%s responds with the body of %s', (file, name) => {
  const body = JSON.stringify({ error: errorTable[name].error, message: errorMessages[name] });
  expect(readFileSync(join(root, file), 'utf8')).toContain(body);
});
