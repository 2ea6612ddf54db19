import { createMemoryRepository } from '@plantstore/core';
import { errorTable } from '@plantstore/core/errors';
import { createFetchHandler } from '@plantstore/server/fetch';
import { expect, it } from 'vitest';
import { type Created, noPlants, plants } from './bodies.ts';

/** Sends a body to a new store. Returns the response, and what the store was asked to create. */
const send = async (body: string | Buffer, type = 'application/json') => {
  const created: Created[] = [];
  const { create } = createMemoryRepository();
  const handler = createFetchHandler({
    repository: {
      create: (plant) => {
        created.push(plant);
        return create(plant);
      },
    },
    authenticate: () => true,
  });
  const headers = { Authorization: 'Bearer any', 'Content-Type': type };
  const init = { method: 'POST', headers, body: new Uint8Array(Buffer.from(body)) };
  const response = await handler('http://a/plants', init);
  return { status: response.status, body: await response.text(), created };
};

/** Returns a short title of a body. */
const shown = (body: string | Buffer) => JSON.stringify(body.toString('latin1').slice(0, 60));

it.each(plants.map(([body, created]) => [shown(body), body, created] as const))(
  'a body that is a plant creates exactly this plant: %s',
  async (_, body, created) => {
    const { name, tag } = created;
    const text = JSON.stringify({ name, tag });
    expect(await send(body)).toStrictEqual({ status: 200, body: text, created: [created] });
  },
);

it.each(
  noPlants.flatMap(([error, ...bodies]) =>
    bodies.map((body) => [error, shown(body), body] as const),
  ),
)('a body that is no plant is %s: %s', async (name, _, body) => {
  const { error, status } = errorTable[name];
  const response = await send(body);
  expect(response).toMatchObject({ status, created: [] });
  expect(JSON.parse(response.body)).toEqual({ error, message: expect.any(String) as unknown });
});

it.each([
  ['application/json; charset=UTF-16', 200],
  ['APPLICATION/Json;charset="latin1"; q=1', 200],
  ['application/problem+json', 415],
  ['application/jsonp', 415],
  ['text/json', 415],
])('a body of the media type %s, which is always UTF-8, gets %i', async (type, status) => {
  expect((await send('{"id":7,"name":"é"}', type)).status).toBe(status);
  const wrong = await send(Buffer.from('{"id":7,"name":"é"}', 'latin1'), type);
  expect(wrong.status).toBe(status === 200 ? 400 : status);
});
