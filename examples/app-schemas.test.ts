import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { zValidator } from '@hono/zod-validator';
import { zodResolver } from '@hookform/resolvers/zod';
import { errorMessages } from '@plantstore/core/errors';
import { NewPlant } from '@plantstore/core/schemas';
import { initTRPC } from '@trpc/server';
import { Hono } from 'hono';
import { expect, it } from 'vitest';
import * as z from 'zod';

const faults = [errorMessages['id-not-integer'], errorMessages['name-required']];

it('app-schemas.ts prints the messages of the error table and of the app', async () => {
  const example = fileURLToPath(new URL('app-schemas.ts', import.meta.url));
  const args = ['--conditions=@plantstore/source', example];
  const { stdout } = await promisify(execFile)(process.execPath, args);
  expect(stdout.split('\n')).toEqual([
    `plant.id: ${faults[0]}`,
    `plant.name: ${faults[1]}`,
    'enter a name',
    'id, name, tag',
    '',
  ]);
});

it('a form of React Hook Form shows the messages of the error table', async () => {
  const resolve = async (values: object) =>
    zodResolver(NewPlant)(values as never, undefined, {
      fields: {},
      shouldUseNativeValidation: false,
    });
  expect((await resolve({ id: '7' })).errors).toMatchObject({
    id: { message: faults[0] },
    name: { message: faults[1] },
  });
  expect((await resolve({ id: 7, name: 'Monstera', tag: undefined })).values).toEqual({
    id: 7n,
    name: 'Monstera',
  });
});

it('an empty tag of a form is absent after the preprocessing of the page', () => {
  const tag = z.preprocess((value) => (value === '' ? undefined : value), NewPlant.shape.tag);
  const Form = NewPlant.extend({ tag });
  expect(Form.parse({ id: 7, name: 'Monstera', tag: '' }).tag).toBe(undefined);
  expect(NewPlant.parse({ id: 7, name: 'Monstera', tag: '' }).tag).toBe('');
});

it('an input of tRPC has the messages of the error table', async () => {
  const t = initTRPC.create();
  const router = t.router({
    create: t.procedure.input(NewPlant).mutation(({ input }) => `${input.id + 1n} ${input.name}`),
  });
  const caller = router.createCaller({});
  expect(await caller.create({ id: 7, name: 'Monstera' })).toBe('8 Monstera');
  const creating = caller.create({ id: '7' } as never);
  await expect(creating).rejects.toThrow(faults[0]);
  await expect(creating).rejects.toThrow(faults[1]);
});

it("Hono's validator has the messages of the error table", async () => {
  const app = new Hono().post(
    '/',
    zValidator('json', NewPlant, (result, context) =>
      result.success
        ? undefined
        : context.json(
            result.error.issues.map(({ message }) => message),
            400,
          ),
    ),
    (context) => context.text(`${context.req.valid('json').id + 1n}`),
  );
  const post = async (body: string) =>
    app.request('/', { method: 'POST', headers: { 'content-type': 'application/json' }, body });
  expect(await (await post('{"id":7,"name":"Monstera"}')).text()).toBe('8');
  const refused = await post('{"id":"7"}');
  expect(refused.status).toBe(400);
  expect(await refused.json()).toEqual(faults);
});
