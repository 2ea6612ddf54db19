import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';

const read = (file: string) => readFileSync(new URL(file, import.meta.url), 'utf8');

describe('the README', () => {
  it('lists every export', () => {
    const exported = [...read('index.ts').matchAll(/\{([^}]*)\}/g)].flatMap(([, names = '']) =>
      names
        .split(',')
        .map((name) => name.replace('type ', '').trim())
        .filter((name) => name !== ''),
    );
    const [, table = ''] = /^## Exports$(.*?)^### /ms.exec(read('../README.md')) ?? [];
    const listed = [...table.matchAll(/^\|([^|]*)\|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
    );
    expect(exported.length).toBeGreaterThan(20);
    expect(listed.toSorted()).toEqual(exported.toSorted());
  });
});
