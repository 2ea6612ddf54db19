import { requiresOpenssl } from '@plantstore/test-support/certificate';
import { requires, requiresLinux } from '@plantstore/test-support/requires';
import { runsAll } from '@plantstore/test-support/sample';
import { describe, expect, it } from 'vitest';
import { createMachine, type Machine, type Plan } from './machine.ts';
import { mayFill } from './store.ts';

/** Acts on each store, by what happens. */
const sequences: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  sqlite: {
    'kills and stops': 'SIGKILL, SIGINT, check-settings, SIGTERM twice, start a second server',
    'a disk that is full, fails or is slow':
      'fill the disk, fail write 28 -wal, SIGKILL, fail some sync 5, delay sync 700',
    'files that are moved or removed':
      'move the file away and back, remove -wal, move the files away and back SIGKILL, ' +
      'remove -shm, move the folder away and back SIGTERM',
    'files that are overwritten, replaced or lost':
      'copy a backup over the file SIGTERM, remove the files $DB SIGKILL, ' +
      'put a backup in the place of the file, restore a backup',
    'commands that are killed':
      'back up completely, back up killed, import 6000 plants killed alone, ' +
      'import 300 plants completely alone',
    'other programs that read, lock and change the file':
      'read with another program 900, lock with another program IMMEDIATE 900, killed VACUUM, ' +
      'VACUUM SIGKILL',
    'files that are renewed, cut and missing':
      'renew the tokens, truncate -s 99 cert, rm -f tokens, rm -f key, renew the certificate',
  },
  postgres: {
    'restarts and crashes of the database':
      'restart the database after SIGINT, restart the database after SIGQUIT, end the sessions, ' +
      'crash after commits without a sync, SIGKILL',
    'a network that fails':
      'reset-after in a proxy, half-close in a proxy, discard in a proxy, refuse in a proxy, ' +
      'SIGTERM',
    'a pooler that does not commit, and a full disk':
      'begin-before in a proxy, fill the disk, SIGKILL',
    'locks and triggers':
      'lock the table in ACCESS EXCLUSIVE mode for 1, lock the id 1 for 1 and COMMIT, ' +
      'leave out plants in a trigger, rewrite plants in a trigger, refuse plants at the commit, ' +
      'import 300 plants completely beside a server',
  },
};

const expectTrue = async (machine: Machine, plan: Plan) => {
  const { falsehoods, isConfirmed, checked } = await machine.check(plan);
  expect(isConfirmed ? falsehoods : []).toEqual([]);
  expect(checked).toBeGreaterThan(20);
};

const options = { ...requiresLinux, ...requiresOpenssl };
describe.concurrent.each(['sqlite', 'postgres'])('%s', options, (store) => {
  for (const [name, acts] of Object.entries(sequences[store] ?? {})) {
    const isFilled = acts.includes('fill');
    const requiresDisk = requires(mayFill || !isFilled, 'only root can mount a disk to fill');
    it(`what the program says is true after ${name}`, requiresDisk, async ({ onTestFinished }) => {
      const machine = await createMachine(store);
      onTestFinished(machine.dispose);
      const steps = acts.split(', ').map((act) => ({ act, waitMs: 100, forMs: 800 }));
      // On a disk of its own, or with a certificate.
      await expectTrue(machine, { seed: isFilled ? 4 : 9, steps });
    });
  }

  it('what the program says is true after random acts', async ({ onTestFinished }) => {
    const machine = await createMachine(store);
    onTestFinished(machine.dispose);
    for (let run = 0; run < (runsAll ? 3 : 1); run += 1) {
      const seed = Math.floor(Math.random() * 2 ** 31);
      console.log(`${store}: seed ${seed}`);
      await expectTrue(machine, machine.planOf(seed));
    }
  });
});
