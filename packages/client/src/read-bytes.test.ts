import { describe, expect, it } from 'vitest';
import { untyped } from '../test/fixtures.ts';
import { readBytes } from './read-bytes.ts';

const readText = async (...args: Parameters<typeof readBytes>) =>
  new TextDecoder().decode(await readBytes(...args));

const forever = () => new AbortController().signal;

const streamOf = (...chunks: unknown[]) =>
  new ReadableStream({
    start: (controller) => {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });

describe('readBytes', () => {
  it('joins characters that were cut in two, and drops a byte order mark', async () => {
    const bytes = [...new TextEncoder().encode('\ufeffMonstera 🌱é')];
    const response = new Response(streamOf(...bytes.map((byte) => Uint8Array.of(byte))));
    expect(await readText(response, forever(), 99)).toBe('Monstera 🌱é');
  });

  it('reads an answer without a body, or without a web stream', async () => {
    expect(await readText(new Response(null), forever(), 99)).toBe('');
    const old = untyped({
      body: { pipe: () => undefined },
      arrayBuffer: async () => new TextEncoder().encode('text').buffer,
    });
    expect(await readText(old, forever(), 99)).toBe('text');
    await expect(readText(old, forever(), 3)).rejects.toThrow('too long');
  });

  it('takes as many bytes as it may, and not one more', async () => {
    expect(await readText(new Response('1234'), forever(), 4)).toBe('1234');
    const response = new Response('12345');
    await expect(readText(response, forever(), 4)).rejects.toThrow('too long');
    expect(response.body?.locked).toBe(false);
  });

  it.each([['text'], [undefined], [7], [{}]])(
    'refuses a chunk that is no bytes (number %#)',
    async (chunk) => {
      const response = untyped({ body: streamOf(chunk) });
      await expect(readText(response, forever(), 99)).rejects.toThrow(Error);
    },
  );

  it('lets timers have their turn while a body never stops', async () => {
    const controller = new AbortController();
    let cancelled = false;
    const body = new ReadableStream({
      pull: (stream) => stream.enqueue(new Uint8Array(0)),
      cancel: () => {
        cancelled = true;
      },
    });
    setTimeout(() => controller.abort(), 5);
    const reading = readText(untyped({ body }), controller.signal, 99);
    await expect(reading).rejects.toThrow('abort');
    expect(cancelled).toBe(true);
    expect(body.locked).toBe(false);
  });
});
