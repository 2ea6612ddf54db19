import fs from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';

// Restores a backup, and kills itself with SIGKILL before the nth change of the folder.
// Arguments: backup, database file, n.
const [, , from = '', to = '', number = ''] = process.argv;

let count = 0;
const changes = ['linkSync', 'renameSync', 'rmSync', 'writeFileSync'] as const;
for (const name of changes) {
  const original = fs[name] as (...args: unknown[]) => unknown;
  Object.assign(fs, {
    [name]: (...args: unknown[]) => {
      count += 1;
      if (count === Number(number)) process.kill(process.pid, 'SIGKILL');
      return original(...args);
    },
  });
}
syncBuiltinESMExports();

const { restorePlants } = await import('../src/restore-plants.ts');
const restored = await restorePlants({ from, to });
if (restored.isErr()) throw new Error(restored.error.message);
