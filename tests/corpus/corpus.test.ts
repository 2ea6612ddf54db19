import { createMemoryRepository, type PlantRepository } from '@plantstore/core';
import { type ErrorName, errorTable } from '@plantstore/core/errors';
import { type RunningServer, startServer } from '@plantstore/server';
import { createFetchHandler } from '@plantstore/server/fetch';
import { sendRaw } from '@plantstore/test-support/raw-http';
import { sample } from '@plantstore/test-support/sample';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { jsonTypes, otherEncodings, otherTypes, utf8 } from './encodings.ts';
import { integers, noIds, noNumbers } from './numbers.ts';
import { noStrings, noTexts, texts } from './strings.ts';
import { type Created, noPlants, plants } from './structures.ts';

const maxBodyBytes = 2 ** 20;

let stored: unknown[] = [];
/** Accepts every plant as new. */
const repository: PlantRepository = {
  create: (newPlant) => {
    stored.push(newPlant);
    return createMemoryRepository().create(newPlant);
  },
};

let server: RunningServer | undefined;
beforeAll(async () => {
  const started = await startServer({
    repository,
    authenticate: () => true,
    maxBodyBytes,
    port: 0,
  });
  if (started.isOk()) server = started.value;
});
afterAll(async () => server?.close(0));
beforeEach(() => {
  stored = [];
});

type Send = (body: string | Buffer, type: string) => Promise<{ status: number; body: string }>;

const sendToServer: Send = async (body, type) => {
  const fields = [
    'Host: a',
    'Authorization: Bearer any',
    `Content-Type: ${type}`,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  const head = Buffer.from(`POST /plants HTTP/1.1\r\n${fields.join('\r\n')}\r\n\r\n`, 'latin1');
  const port = Number(new URL(server?.url ?? '').port);
  const response = await sendRaw(port, Buffer.concat([head, Buffer.from(body)]));
  return { ...response, body: Buffer.from(response.body, 'latin1').toString() };
};

const handler = createFetchHandler({ repository, authenticate: () => true, maxBodyBytes });

const sendToHandler: Send = async (body, type) => {
  const headers = { Authorization: 'Bearer any', 'Content-Type': type };
  const init = { method: 'POST', headers, body: new Uint8Array(Buffer.from(body)) };
  const response = await handler('http://a/plants', init);
  return { status: response.status, body: await response.text() };
};

const transports: readonly (readonly [name: string, send: Send])[] = [
  ['the server', sendToServer],
  ['the fetch handler', sendToHandler],
];

/** Adds a short title to each row. */
const titled = <const Row extends readonly [string, ...unknown[]]>(rows: readonly Row[]) =>
  rows.map((row) => [JSON.stringify(row[0].slice(0, 60)), row] as const);

describe.each(transports)('through %s', (_transport, send) => {
  /** The handler reads every case with the same functions as the server. */
  const some = <Row>(rows: readonly Row[]) => (send === sendToHandler ? rows : sample(rows, 10));

  const expectCreated = async (
    body: string | Buffer,
    created: Created,
    type = 'application/json',
  ) => {
    const response = await send(body, type);
    const { name, tag } = created;
    expect(response).toMatchObject({ status: 200, body: JSON.stringify({ name, tag }) });
    expect(stored).toStrictEqual([created]);
  };

  const expectRow = async (body: string | Buffer, row: ErrorName, type = 'application/json') => {
    const response = await send(body, type);
    expect(response.status).toBe(errorTable[row].status);
    expect(Object.entries(JSON.parse(response.body) as object)).toEqual([
      ['error', errorTable[row].error],
      ['message', expect.stringMatching(/^[a-zA-Z]/)],
    ]);
    expect(stored).toEqual([]);
  };

  describe('id', () => {
    it.each(titled(some(integers)))('an id is the written integer: %s', async (_, [source, id]) => {
      await expectCreated(`{"id":${source},"name":"x"}`, { id, name: 'x' });
    });

    it.each(titled(some(noIds)))(
      'an id that is not an exact int64 is rejected: %s',
      async (_, [source, row]) => {
        await expectRow(`{"id":${source},"name":"x"}`, row);
      },
    );

    it.each(titled(some(noNumbers).map((source) => [source] as const)))(
      'an id that is not JSON is rejected: %s',
      async (_, [source]) => {
        await expectRow(`{"id":${source},"name":"x"}`, 'json-malformed');
        await expectRow(`{"id":7,"name":"x","other":${source}}`, 'json-malformed');
      },
    );
  });

  describe('text', () => {
    it.each(some(texts))('a text is kept unchanged: %s', async (_, source, text) => {
      await expectCreated(`{"id":7,"name":${source}}`, { id: 7n, name: text });
      stored = [];
      await expectCreated(`{"id":7,"tag":${source},"name":""}`, { id: 7n, name: '', tag: text });
    });

    it.each(some(noTexts))(
      'a text that is not a valid string is rejected: %s',
      async (_, source) => {
        await expectRow(`{"id":7,"name":${source}}`, 'name-not-text');
        await expectRow(`{"id":7,"name":"x","tag":${source}}`, 'tag-not-text');
      },
    );

    it.each(some(noStrings))('a text that is not JSON is rejected: %s', async (_, source) => {
      await expectRow(`{"id":7,"name":${source}}`, 'json-malformed');
      await expectRow(`{"id":7,"name":"x",${source}:1}`, 'json-malformed');
    });
  });

  describe('body', () => {
    it.each(some(plants))('a body that is a plant is accepted: %s', async (_, body, created) => {
      await expectCreated(body, created);
    });

    it.each(titled(some(noPlants)))(
      'a body that is not a plant is rejected: %s',
      async (_, [body, row]) => {
        await expectRow(body, row);
      },
    );

    it('a body is accepted up to exactly maxBodyBytes', async () => {
      const ofSize = (size: number) => '{"id":7,"name":"x"}'.padEnd(size, ' ');
      await expectCreated(ofSize(maxBodyBytes), { id: 7n, name: 'x' });
      stored = [];
      await expectRow(ofSize(maxBodyBytes + 1), 'body-too-large');
    });
  });

  describe('the encoding of a body', () => {
    it.each(some(utf8))('a body in UTF-8 is accepted: %j', async (body, name) => {
      await expectCreated(body, { id: 7n, name });
    });

    it.each(some(otherEncodings))(
      'a body that is not UTF-8 is rejected: %s',
      async (_, body, row) => {
        await expectRow(body, row);
      },
    );

    it.each(some(jsonTypes))(
      'a body is read as UTF-8, also with other parameters of the media type: %s',
      async (type) => {
        await expectCreated('{"id":7,"name":"é"}', { id: 7n, name: 'é' }, type);
        stored = [];
        await expectRow(Buffer.from('{"id":7,"name":"\xe9"}', 'latin1'), 'encoding-invalid', type);
      },
    );

    it.each(some(otherTypes))('a body of another media type is refused: %j', async (type) => {
      await expectRow('{"id":7,"name":"x"}', 'media-type-unsupported', type);
    });
  });
});
