import { describe, expect, it } from 'vitest';
import { createTestClient, errorOf, plant, untyped } from '../test/fixtures.ts';
import { readText } from './response-text.ts';

const streamOf = (...chunks: unknown[]) =>
  new ReadableStream({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
const bytesOf = (text: string) =>
  Array.from(new TextEncoder().encode(text), (byte) => Uint8Array.of(byte));

/** Reads a body, and returns its text and what ends the attempt. */
const read = async (response: object, maxLength = 99) => {
  const controller = new AbortController();
  const text = await readText(untyped(response), new TextDecoder(), controller.signal, maxLength);
  return { text, end: () => controller.abort() };
};

describe('readText', () => {
  it.each<[string, object, string]>([
    [
      'a stream of single bytes',
      new Response(streamOf(...bytesOf('\ufeffMonstera 🌱é'))),
      'Monstera 🌱é',
    ],
    [
      'bytes that are not UTF-8',
      new Response(streamOf(Uint8Array.of(0x61, 0xff), Uint8Array.of(0x62, 0xf0, 0x9f))),
      'a\ufffdb\ufffd',
    ],
    ['no body', new Response(null), ''],
    [
      'a body that is no web stream',
      { body: { pipe: () => undefined }, arrayBuffer: async () => Buffer.from('text') },
      'text',
    ],
  ])('readText reads a response with %s', async (_, response, text) => {
    expect((await read(response)).text).toBe(text);
  });

  it('readText stops reading after maxLength characters, and unlocks the body', async () => {
    expect((await read(new Response(streamOf(...bytesOf('1234'))), 4)).text).toBe('1234');
    const response = new Response(streamOf(...bytesOf('1234567')));
    const { text, end } = await read(response, 4);
    expect(text).toBe('12345');
    end();
    expect(response.body?.locked).toBe(false);
  });

  it('readText reads an async iterable in chunks, and stops after maxLength characters', async () => {
    let isClosed = false;
    async function* chunks() {
      try {
        for (;;) yield Buffer.from('text');
      } finally {
        isClosed = true;
      }
    }
    expect((await read({ body: chunks() }, 9)).text).toBe('texttexttext');
    await expect.poll(() => isClosed).toBe(true);
  });

  it('readText does not wait for the cancellation of a body that is too long', async () => {
    const { promise: cancelled, resolve } = Promise.withResolvers<undefined>();
    const body = new ReadableStream({
      pull: (stream) => stream.enqueue(new Uint8Array(4)),
      cancel: async () => {
        resolve(undefined);
        return new Promise(() => {});
      },
    });
    const { text, end } = await read({ body }, 7);
    expect(text).toHaveLength(8);
    end();
    await cancelled;
  });

  it('a body with a chunk that is no bytes results in a network error', async () => {
    for (const chunk of ['text', 7, {}]) {
      const client = createTestClient(async () =>
        untyped({ status: 200, body: streamOf(...bytesOf('a'), chunk) }),
      );
      expect(await errorOf(client)).toMatchObject({ kind: 'network', status: 200 });
    }
  });

  it.each([
    ['undefined', undefined],
    ['empty', new Uint8Array(0)],
  ])('an abort ends a call whose body has endless chunks that are %s', async (_, chunk) => {
    const body = new ReadableStream({ pull: (stream) => stream.enqueue(chunk) });
    const controller = new AbortController();
    setTimeout(() => controller.abort());
    const client = createTestClient(async () => untyped({ status: 200, body }));
    const created = await client.createPlant(plant, { signal: controller.signal });
    expect(created._unsafeUnwrapErr().kind).toBe('aborted');
    expect(body.locked).toBe(false);
  });
});
