import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { describe, expect, it } from 'vitest';
import { untyped } from '../test/fixtures.ts';
import { readText } from './response-text.ts';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const memoryInUse = (): number => {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
};

const unabortedSignal = () => new AbortController().signal;

const streamOf = (...chunks: unknown[]) =>
  new ReadableStream({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });

const bytesOf = (text: string) =>
  [...new TextEncoder().encode(text)].map((byte) => Uint8Array.of(byte));

describe('readText', () => {
  it('readText joins characters that are split between chunks', async () => {
    const response = new Response(streamOf(...bytesOf('\ufeffMonstera 🌱é')));
    expect(await readText(response, new TextDecoder(), unabortedSignal(), 99)).toBe('Monstera 🌱é');
  });

  it('readText replaces bytes that are not UTF-8, and characters that are incomplete at the end', async () => {
    const bytes = [Uint8Array.of(0x61, 0xff), Uint8Array.of(0x62, 0xf0, 0x9f)];
    expect(
      await readText(new Response(streamOf(...bytes)), new TextDecoder(), unabortedSignal(), 99),
    ).toBe('a\ufffdb\ufffd');
  });

  it('readText reads a response without a body, or without a web stream', async () => {
    expect(await readText(new Response(null), new TextDecoder(), unabortedSignal(), 99)).toBe('');
    const old = untyped({
      body: { pipe: () => undefined },
      arrayBuffer: async () => new TextEncoder().encode('text').buffer,
    });
    expect(await readText(old, new TextDecoder(), unabortedSignal(), 99)).toBe('text');
  });

  it('readText stops reading after maxLength characters', async () => {
    expect(
      await readText(
        new Response(streamOf(...bytesOf('1234'))),
        new TextDecoder(),
        unabortedSignal(),
        4,
      ),
    ).toBe('1234');
    const response = new Response(streamOf(...bytesOf('1234567')));
    const controller = new AbortController();
    expect(await readText(response, new TextDecoder(), controller.signal, 4)).toBe('12345');
    controller.abort();
    expect(response.body?.locked).toBe(false);
  });

  it('readText reads an async iterable in chunks, and stops after maxLength characters', async () => {
    let read = 0;
    let isClosed = false;
    async function* chunks() {
      try {
        for (;;) {
          read += 1;
          yield new TextEncoder().encode('text');
        }
      } finally {
        isClosed = true;
      }
    }
    const arrayBuffer = () => Promise.reject(new Error('was called'));
    const response = untyped({ body: chunks(), arrayBuffer });
    const controller = new AbortController();
    expect(await readText(response, new TextDecoder(), controller.signal, 9)).toBe('texttexttext');
    controller.abort();
    await expect.poll(() => isClosed).toBe(true);
    expect(read).toBe(3);
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
    const controller = new AbortController();
    expect(await readText(untyped({ body }), new TextDecoder(), controller.signal, 7)).toHaveLength(
      8,
    );
    controller.abort();
    await cancelled;
  });

  it.each([
    ['a string', 'text'],
    ['a number', 7],
    ['an object', {}],
  ])('readText rejects for a chunk that is %s', async (_, chunk) => {
    for (const before of [[], bytesOf('a')]) {
      const response = untyped({ body: streamOf(...before, chunk) });
      await expect(readText(response, new TextDecoder(), unabortedSignal(), 99)).rejects.toThrow(
        Error,
      );
    }
  });

  it('readText lets timers run during endless chunks that are undefined', async () => {
    const body = new ReadableStream({ pull: (stream) => stream.enqueue(undefined) });
    const controller = new AbortController();
    setTimeout(() => controller.abort());
    expect(await readText(untyped({ body }), new TextDecoder(), controller.signal, 99)).toBe('');
    expect(body.locked).toBe(false);
  });

  it('readText lets timers run during endless empty chunks, and retains no chunk', async () => {
    const controller = new AbortController();
    const { promise: enough, resolve } = Promise.withResolvers<undefined>();
    const chunks: WeakRef<Uint8Array>[] = [];
    let cancelled = false;
    const body = new ReadableStream({
      pull: (stream) => {
        const chunk = new Uint8Array(0);
        if (chunks.push(new WeakRef(chunk)) === 10_000) setTimeout(resolve, 0, undefined);
        stream.enqueue(chunk);
      },
      cancel: () => {
        cancelled = true;
      },
    });
    const reading = readText(untyped({ body }), new TextDecoder(), controller.signal, 99);
    await enough;
    collectGarbage();
    expect(chunks[0]?.deref()).toBeUndefined();
    controller.abort();
    expect(await reading).toBe('');
    expect(cancelled).toBe(true);
    expect(body.locked).toBe(false);
  });
});

it('readText uses about twice the size of a body for chunks of one byte', async () => {
  const size = 50_000;
  const before = memoryInUse();
  let used = 0;
  let sent = 0;
  const body = new ReadableStream({
    pull(controller) {
      if (sent === size) {
        used = memoryInUse() - before;
        controller.close();
      } else controller.enqueue(new Uint8Array(1));
      sent += 1;
    },
  });
  expect(
    await readText(new Response(body), new TextDecoder(), unabortedSignal(), size),
  ).toHaveLength(size);
  expect(used).toBeLessThan(5 * size);
});
