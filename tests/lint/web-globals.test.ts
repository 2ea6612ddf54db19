import { fileURLToPath } from 'node:url';
import { createContext, runInContext } from 'node:vm';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';

/** The globals of every runtime: without `Buffer`, `process` and `setImmediate` of Node. */
const names =
  'AbortController AbortSignal Blob DOMException Headers ReadableStream Request Response TextDecoder TextEncoder URL URLSearchParams Uint8Array clearTimeout crypto performance queueMicrotask setTimeout';
const webGlobals = Object.fromEntries(
  names
    .split(' ')
    .map((name) => [name, globalThis[name as keyof typeof globalThis] as unknown] as const),
);

/** Runs a program that imports the packages where only these globals exist. */
const runOnWeb = async (program: string): Promise<unknown> => {
  const { outputFiles } = await build({
    stdin: {
      contents: program,
      resolveDir: fileURLToPath(new URL('../../packages/server', import.meta.url)),
      loader: 'ts',
    },
    bundle: true,
    write: false,
    format: 'iife',
    globalName: 'program',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['@plantstore/source', 'import'],
  });
  const context = createContext(webGlobals);
  runInContext(outputFiles[0]?.text ?? '', context);
  return runInContext('program.run()', context) as Promise<unknown>;
};

describe('a runtime without the globals of Node', () => {
  it('the client and the fetch handler create a plant, and report errors, without Buffer and process', async () => {
    const results = await runOnWeb(`
      import { createClient } from '../client/src/index.ts';
      import { createMemoryRepository } from '@plantstore/core';
      import { createFetchHandler } from './src/fetch.ts';

      export async function run() {
        const fetch = createFetchHandler({
          repository: createMemoryRepository(),
          authenticate: (token) => token === 'good-token',
          maxBodyBytes: 100,
        });
        const failing = async () => { throw new TypeError('no route for bad-token'); };
        const create = async (plant, more = {}) => {
          const options = { baseUrl: 'http://plants.test', token: 'good-token', retries: 0, fetch };
          const result = await createClient({ ...options, ...more }).createPlant(plant);
          return result.isOk() ? result.value : [result.error.kind, result.error.message];
        };
        const plant = { id: 9223372036854775807n, name: 'Monstera \u{1fab4}', tag: 'é' };
        return JSON.stringify([
          await create(plant),
          await create({ ...plant, name: 'other' }),
          await create({ ...plant, name: 'x'.repeat(100) }),
          await create(plant, { token: 'bad-token' }),
          await create(plant, { token: 'bad-token', fetch: failing }),
        ]);
      }`);
    expect(JSON.parse(String(results))).toEqual([
      { name: 'Monstera 🪴', tag: 'é' },
      ['refused', expect.any(String)],
      ['refused', expect.any(String)],
      ['refused', expect.any(String)],
      ['network', expect.not.stringContaining('bad-token')],
    ]);
  });
});
