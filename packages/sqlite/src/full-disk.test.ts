import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeFolder } from '@plantstore/test-support/make-folder';
import { mayMount, onSmallDisk } from '@plantstore/test-support/small-disk';
import { expect, it } from 'vitest';

it('a repository reports a full disk, loses no acknowledged plant, recovers once there is space, and reports the WAL file that remains when it is closed on a full disk', async ({
  skip,
}) => {
  const folder = await makeFolder();
  skip(!(await mayMount(folder)), 'this user cannot mount a small disk on this machine');
  const program = fileURLToPath(new URL('../test/create-on-full-disk.ts', import.meta.url));
  const { stdout } = await onSmallDisk(folder, [process.execPath, program, folder]);
  const report = JSON.parse(stdout) as { stored: number };
  expect(report).toEqual({
    openedWhenFull: 'disk-full',
    refusedKind: 'store-unavailable',
    reason: expect.stringContaining('disk-full') as unknown,
    recovered: true,
    walOnFullDisk: join(folder, 'plants.db-wal'),
    walWithFreeSpace: 'none',
    stored: report.stored,
    found: report.stored,
  });
  expect(report.stored).toBeGreaterThan(0);
});
