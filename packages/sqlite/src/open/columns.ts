import type { NewPlant } from '@plantstore/core';
import { fromTexts, toTexts } from '@plantstore/core/wire';

/** The columns in order. One of a later version is nullable, and added to a table without it. */
const columns = {
  id: 'INTEGER PRIMARY KEY',
  name: 'TEXT NOT NULL',
  tag: 'TEXT',
} as const satisfies Record<keyof NewPlant, string>;

type Name = keyof NewPlant;

export const columnNames = Object.keys(columns) as readonly Name[];

/** The columns of the first version, which every table has, and the others. */
export const firstNames = columnNames.slice(0, 3);
export const laterNames = columnNames.slice(3);

/** Returns the declaration of a column. */
export function declarationOf(name: Name): string {
  return `${name} ${columns[name]}`;
}

/** An id, and the values of the other columns in their order. */
export type Row = readonly [bigint, ...(string | null)[]];

/** The values of plants by column: a copy to another thread takes less time than of rows. */
export type Batch = readonly [ids: BigInt64Array, ...others: (string | null)[][]];

export function toBatch(plants: readonly NewPlant[]): Batch {
  const texts = plants.map(toTexts);
  return [
    BigInt64Array.from(plants, ({ id }) => id),
    ...otherNames.map((name) => texts.map((plant) => plant[name] ?? null)),
  ];
}

/** Returns the rows of a batch, in order. */
export function rowsOf([ids, ...others]: Batch): readonly Row[] {
  return Array.from(ids, (id, index) => [id, ...others.map((column) => column[index] ?? null)]);
}

/** Returns the plant of a row. */
export function plantOf([id, ...texts]: Row): NewPlant {
  const named = otherNames.map((name, index) => [name, texts[index] ?? undefined] as const);
  return { id, ...fromTexts(Object.fromEntries(named)) } as NewPlant;
}

const otherNames = columnNames.filter((name) => name !== 'id');
