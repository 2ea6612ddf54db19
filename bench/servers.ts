// Every server in turn, several rounds, as ratios to a bare server measured between them.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../packages/postgres/test/postgres-server.ts';
import { check } from './check.ts';
import { ours, rawSocket } from './contenders.ts';
import { type Contender, type Load, measure, measureDisk, textOf } from './measure.ts';
import { installPeers, peers, peerVersions } from './peers.ts';
import type { Servers } from './results.ts';
import { type Entry, runRounds, summarize, summarizeBaseline } from './rounds.ts';
import { type Stores, storesIn } from './stores.ts';

/** How the servers are measured. */
export type ServersOptions = Load & {
  readonly rounds: number;
  /** What the names of the contenders have to include. */
  readonly only: string;
};

const isChosen =
  (only: string) =>
  ({ name }: Contender): boolean =>
    name.includes(only);

/** Measures every server that is chosen, installs, and does the job; the others are left out. */
export const compareServers = async (
  { only, rounds, ...load }: ServersOptions,
  tell: (text: string) => void,
): Promise<Servers> => {
  const leftOut: { readonly name: string; readonly why: string }[] = [];
  const leaveOut = (name: string, why: string) => {
    leftOut.push({ name, why });
    tell(`left out: ${why}`);
  };

  const peersThatInstall = async (stores: Stores): Promise<readonly Contender[]> => {
    const chosen = peers(stores).filter(isChosen(only));
    if (chosen.length === 0) return [];
    tell('installing the peers');
    try {
      await installPeers();
      return chosen;
    } catch (thrown) {
      for (const { name } of chosen)
        leaveOut(name, `${name}: the peers do not install: ${textOf(thrown)}`);
      return [];
    }
  };

  const entriesOn = async (stores: Stores): Promise<Entry[]> => {
    const entries: Entry[] = [
      { ...rawSocket, measure: async (how) => measure(rawSocket, how) },
      {
        name: `disk: append and fdatasync by ${load.connections}`,
        group: 'limit',
        measure: async (how) => measureDisk(stores.newFile(), how),
      },
    ];
    const all = [...ours(stores).filter(isChosen(only)), ...(await peersThatInstall(stores))];
    tell('checking that all do the same job');
    for (const contender of all) {
      const { name, group, store } = contender;
      try {
        await check(contender);
        entries.push({ name, group, store, measure: async (how) => measure(contender, how) });
      } catch (thrown) {
        leaveOut(name, textOf(thrown));
      }
    }
    return entries;
  };

  const folder = await mkdtemp(join(tmpdir(), 'plantstore-bench-'));
  const postgres = await startPostgres();
  try {
    const entries = await entriesOn(storesIn(folder, postgres));
    const { base, samples, failed } = await runRounds(entries, load, { rounds, tell });
    for (const [name, why] of failed) leftOut.push({ name, why });
    return {
      options: { ...load, rounds },
      baseline: summarizeBaseline(base),
      contenders: entries
        .filter(({ name }) => !failed.has(name))
        .map((entry) => summarize(entry, samples.get(entry.name) ?? [])),
      leftOut,
      peerVersions: await peerVersions(),
    };
  } finally {
    await postgres.dispose();
    await rm(folder, { recursive: true, force: true });
  }
};
