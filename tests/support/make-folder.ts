import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

/** Registers a task to run after the test or the test file. */
export type Cleanup = (task: () => Promise<void>) => void;

/** Creates an empty folder that is removed after the test. */
export const makeFolder = async (cleanup: Cleanup = onTestFinished): Promise<string> => {
  const folder = await mkdtemp(join(tmpdir(), 'plantstore-'));
  cleanup(async () => rm(folder, { recursive: true, force: true }));
  return folder;
};
