import { runInNewContext } from 'node:vm';
import { expect, it } from 'vitest';
import { createTestClient, errorOf, plant } from '../test/fixtures.ts';
import type { ClientOptions } from './index.ts';

/** Returns a fetch of another realm, whose response, body and errors are objects of that realm. */
const fetchOf = (source: string) =>
  runInNewContext(source, { TextEncoder }) as NonNullable<ClientOptions['fetch']>;

it('a client reads a response of another realm', async () => {
  const source = `async () => ({ status: 200, headers: { get: () => null }, body: {
    async *[Symbol.asyncIterator]() { yield new TextEncoder().encode('{"name":"a"}'); } } })`;
  expect(await createTestClient(fetchOf(source)).createPlant(plant)).toMatchObject({
    value: { name: 'a' },
  });
});

it('a client describes an error of another realm', async () => {
  const source = `async () => { throw new TypeError('failed', { cause: new AggregateError([new Error('reset')]) }); }`;
  expect(await errorOf(createTestClient(fetchOf(source)))).toMatchObject({
    kind: 'network',
    message: 'no response: reset',
    cause: { name: 'TypeError', cause: { name: 'AggregateError' } },
  });
});
