import type { NewPlant } from '@plantstore/core';
import { fromTexts, toTexts } from '@plantstore/core/wire';

/** The columns in order. One of a later version is nullable, and added to a table without it. */
const columns = {
  id: 'bigint PRIMARY KEY',
  name: 'text NOT NULL',
  tag: 'text',
} as const satisfies Record<keyof NewPlant, string>;

type Name = keyof NewPlant;
export const columnNames = Object.keys(columns) as readonly Name[];
/** The columns of the first version, which every table has. */
export const firstNames = columnNames.slice(0, 3);
export const textNames = columnNames.filter((name) => name !== 'id');
export const nullableNames = textNames.filter((name) => columns[name] === 'text');

/** Returns the declaration of a column. */
export function declarationOf(name: Name): string {
  return `${name} ${columns[name]}`;
}

/** A row; every column as text. */
export type Row = readonly (string | null)[];

/** Returns the members of a plant as texts. */
export function textsOf(plant: NewPlant): Readonly<Record<Name, string | undefined>> {
  return { id: String(plant.id), ...toTexts(plant) };
}

/** Returns the plant of a row. */
export function plantOf([id, ...texts]: Row): NewPlant {
  const named = textNames.map((name, index) => [name, texts[index] ?? undefined] as const);
  return { id: BigInt(id as string), ...fromTexts(Object.fromEntries(named)) } as NewPlant;
}

/** Quotes an SQL identifier. */
export function quoted(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`;
}
