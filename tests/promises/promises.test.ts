import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { mutate } from './mutation.ts';
import { promises } from './promises.ts';

const root = join(import.meta.dirname, '../..');

describe.each(Object.entries(promises))('each mutation of the promises of %s', (_, mutations) => {
  it.each(mutations)('can be applied: $promise ($replacement)', (mutation) => {
    const source = readFileSync(join(root, mutation.file), 'utf8');
    expect(mutate(source, mutation)).not.toBe(source);
    expect([mutation.test].filter((file) => !existsSync(join(root, file)))).toEqual([]);
  });
});
