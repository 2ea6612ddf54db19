import type { NewPlant } from '@plantstore/core';

const isKeepable = (text: unknown): boolean =>
  typeof text === 'string' && text.isWellFormed() && !text.includes('\0');

/** What keeps a plant that nobody validated from being kept exactly, or `undefined`. */
export const plantFault = ({ id, name, tag }: NewPlant): string | undefined => {
  if (typeof id !== 'bigint' || BigInt.asIntN(64, id) !== id) return 'the id is no int64';
  if (!isKeepable(name)) return 'the name is no Unicode text';
  return tag === undefined || isKeepable(tag) ? undefined : 'the tag is no Unicode text';
};
