import type { NewPlant } from '@plantstore/core';

/** Plants as four columns, because the cost of a copy to another thread depends on the number of values. */
export type Batch = {
  readonly ids: BigInt64Array;
  /** All names joined, without the tags: a plant's name and tag together can exceed the maximum string length. */
  readonly names: string;
  readonly tags: string;
  /** Lengths of each plant's name and tag, in UTF-16 code units; -1 for a plant without a tag. */
  readonly lengths: Int32Array;
};

/** Packs plants into a batch. */
export const toBatch = (plants: readonly NewPlant[]): Batch => {
  const ids = new BigInt64Array(plants.length);
  const lengths = new Int32Array(2 * plants.length);
  let names = '';
  let tags = '';
  for (const [index, { id, name, tag }] of plants.entries()) {
    ids[index] = id;
    names += name;
    tags += tag ?? '';
    lengths[2 * index] = name.length;
    lengths[2 * index + 1] = tag?.length ?? -1;
  }
  return { ids, names, tags, lengths };
};

/** The id, the name and the tag of a plant. */
export type Row = [bigint, string, string | null];

/** Unpacks a batch, in order. */
export const rowsOf = ({ ids, names, tags, lengths }: Batch): Row[] => {
  let nameEnd = 0;
  let tagEnd = 0;
  return Array.from(ids, (id, index) => {
    const nameStart = nameEnd;
    nameEnd += lengths[2 * index] ?? 0;
    const name = names.slice(nameStart, nameEnd);
    const tagLength = lengths[2 * index + 1] ?? -1;
    if (tagLength === -1) return [id, name, null];
    const tagStart = tagEnd;
    tagEnd += tagLength;
    return [id, name, tags.slice(tagStart, tagEnd)];
  });
};
