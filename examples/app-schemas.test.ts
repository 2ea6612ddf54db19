import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { errorTable } from '@plantstore/core/errors';
import { NewPlant } from '@plantstore/core/schemas';
import { expect, it } from 'vitest';
import * as z from 'zod';

const faults = [errorTable['id-not-integer'].message, errorTable['name-required'].message];

it('app-schemas.ts prints the messages of the error table and of the app', async () => {
  const example = fileURLToPath(new URL('app-schemas.ts', import.meta.url));
  const args = [example];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout.split('\n')).toEqual([
    `plant.id: ${faults[0]}`,
    `plant.name: ${faults[1]}`,
    'enter a name',
    'id, name, tag',
    '',
  ]);
});

it('an empty tag of a form is absent after the preprocessing of the page', () => {
  const tag = z.preprocess((value) => (value === '' ? undefined : value), NewPlant.shape.tag);
  const Form = NewPlant.extend({ tag });
  expect(Form.parse({ id: 7, name: 'Monstera', tag: '' }).tag).toBe(undefined);
  expect(NewPlant.parse({ id: 7, name: 'Monstera', tag: '' }).tag).toBe('');
});
