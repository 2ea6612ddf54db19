// expected: nothing
import { readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import type { PlantRepository } from '@plantstore/core';
import { ok, type Result } from 'neverthrow';

export const openText = (path: string): Result<string, PlantRepository> =>
  ok(readFileSync(path, 'utf8'));

export const later = async (): Promise<void> => {
  await setTimeout(1);
};
