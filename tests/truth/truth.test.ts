import { requiresOpenssl } from '@plantstore/test-support/certificate';
import { requires, requiresLinux } from '@plantstore/test-support/requires';
import { firstOrAll } from '@plantstore/test-support/sample';
import { describe, expect, it } from 'vitest';
import { acts } from './acts.ts';
import { createMachine } from './machine.ts';
import { postgresActs } from './postgres.ts';
import { sqliteActs } from './sqlite.ts';
import { mayFill } from './store.ts';

/**
 * Acts on each store, by what happens; `pnpm test` runs the first list of each store, CI all lists.
 * `pnpm test:truth` runs random ones.
 */
const sequences = {
  sqlite: {
    'kills of servers and commands':
      'SIGKILL, back up killed, import 2000 plants killed alone, check-settings, SIGTERM twice, ' +
      'import 100 plants completely alone, start a second server',
    'a disk that is full, fails or is slow':
      'fill the disk, fail write 28 -wal, SIGKILL, fail some sync 5, delay sync 700',
    'files that are moved or removed':
      'move $DB away and back, remove -wal, move $DB $DB-* away and back SIGKILL, ' +
      'remove -shm, move $FOLDER away and back SIGTERM',
    'files that are overwritten, replaced or lost':
      'restore after cp $BACKUP $DB SIGTERM, restore after cp $BACKUP $DB+; mv $DB+ $DB SIGKILL, ' +
      'restore after rm -rf $FOLDER SIGTERM',
    'other programs that read, lock and change the file, and renewed files':
      'read with another program 900, renew the tokens, lock with another program IMMEDIATE 900, ' +
      'truncate -s 99 cert, VACUUM, rm -f tokens, VACUUM SIGKILL, rm -f key, renew the certificate',
    'permissions of files that change':
      'remove -owner, chmod 0 $FOLDER, chmod 400 $DB, SIGKILL, check-settings',
    'limits and pauses of the process': 'suspend the server, limit nofile=25, limit fsize=99999',
  },
  postgres: {
    'restarts and crashes of the database':
      'restart the database after SIGINT, end the sessions, commit without a sync, ' +
      'restart the database after SIGQUIT, SIGKILL',
    'a network that fails and a pooler that does not commit':
      'reset-after in a proxy, half-response in a proxy, half-close in a proxy, ' +
      'begin-before in a proxy, discard in a proxy, delay in a proxy, SIGTERM',
    'a full disk, locks and triggers':
      'fill the disk, lock the table in ACCESS EXCLUSIVE mode for 1, lock the id 1 for 1 and ' +
      'COMMIT, leave out plants in a trigger, rewrite plants in a trigger, ' +
      'refuse plants at the commit, import 100 plants completely beside a server',
    'privileges and a table that change': 'limit nofile=25, add a column, revoke privileges',
    'settings that refuse plants':
      'refuse logins, take the standby away, make the database read-only',
  },
};

const namesIn = (lists: object) => Object.values(lists).join(', ').split(', ');
const all = Object.values(sequences).flatMap(namesIn);

it.each(['sqlite', 'postgres'] as const)(
  'each row of acts of %s has an act in a list of this store, or of any if both share it',
  (store) => {
    const own = namesIn(sequences[store]);
    const missing = (store === 'sqlite' ? sqliteActs : postgresActs).filter(
      (row) => !row.some(({ name }) => (acts.includes(row) ? all : own).includes(name)),
    );
    expect(missing.map(([act]) => act?.name)).toEqual([]);
  },
);

const options = { ...requiresLinux, ...requiresOpenssl };
describe.concurrent.each(Object.entries(sequences))('%s', options, (store, byName) => {
  for (const [name, list] of firstOrAll(Object.entries(byName))) {
    const isFilled = list.includes('fill');
    const requiresDisk = requires(
      mayFill || !isFilled,
      'this user cannot mount a disk to fill on this machine',
    );
    it(
      `what the program reports is true after ${name}`,
      requiresDisk,
      async ({ onTestFinished }) => {
        const { check, dispose } = await createMachine(store);
        onTestFinished(dispose);
        // On a disk of its own, or not.
        const plan = { seed: isFilled ? 4 : 9, acts: list.split(', ') };
        const { falsehoods, isConfirmed, checked } = await check(plan);
        expect(isConfirmed ? falsehoods : []).toEqual([]);
        expect(checked).toBeGreaterThan(20);
      },
    );
  }
});
