import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { errorTable } from '@plantstore/core/errors';
import { NewPlant } from '@plantstore/core/schemas';
import { expect, it } from 'vitest';
import { Form } from './app-schemas.ts';

const faults = [errorTable['id-not-integer'].message, errorTable['name-required'].message];

it('app-schemas.ts prints the messages of the error table and of the app', async () => {
  const example = fileURLToPath(new URL('app-schemas.ts', import.meta.url));
  const args = [example];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout.split('\n')).toEqual([
    `plant.id: ${faults[0]}`,
    `plant.name: ${faults[1]}`,
    'enter a name',
    "{ id: 9007199254740993n, name: 'Monstera', tag: undefined }",
    'id, name, tag',
    '',
  ]);
});

it.each(['', ' 7', '7.0', 'x', '9223372036854775808'])(
  'the form of app-schemas.ts rejects the id %j',
  (id) => {
    const { error } = Form.safeParse({ id, name: 'Monstera' });
    expect(error?.issues.map(({ path }) => path)).toEqual([['id']]);
  },
);

it('an empty tag of a form is absent after the preprocessing of the page', () => {
  expect(Form.parse({ id: 7, name: 'Monstera', tag: '' }).tag).toBe(undefined);
  expect(NewPlant.parse({ id: 7, name: 'Monstera', tag: '' }).tag).toBe('');
});
