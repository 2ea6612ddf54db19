import type { Measured } from '../measure.ts';
import { type Round, slowerByMs, type StoreName } from './measure-round.ts';
import type { BatchCost, Front, Store } from './model.ts';
import type { Wave } from './store.ts';

/** A server that keeps nothing, by one connection and by many. */
export type NothingKept = { readonly one: Measured; readonly many: Measured };

/** What the model is given. */
export type Costs = { readonly front: Front; readonly stores: Readonly<Record<StoreName, Store>> };

const fastest = (measured: readonly Measured[]): Measured =>
  measured.reduce((best, one) => (one.perSecond > best.perSecond ? one : best));

/** Clients and HTTP, from a server that keeps nothing: by many connections HTTP's core is full. */
const frontOf = ({ one, many }: NothingKept, cores: number): Front => {
  const http = 1e6 / many.perSecond;
  const client = (many.loadCpu * 1e6) / many.perSecond;
  // Of one request after another, both sides are woken each time.
  const wakeUp = Math.max(0, (1e6 / one.perSecond - http - client) / 2);
  return { cores, wakeUp, client, http };
};

type Line = { readonly small: Wave; readonly big: Wave };

const lineThrough = ({ small, big }: Line, of: (wave: Wave) => number): BatchCost => {
  const each = Math.max(0, (of(big) - of(small)) / (big.plants - small.plants));
  return { fixed: Math.max(0, of(small) - each * small.plants), each };
};

/** A store, from two sizes of batches that it was given without HTTP. */
const storeOf = (
  line: Line,
  { wakeUp }: Front,
  limits: Pick<Store, 'lanes' | 'maxBatch'>,
): Store => {
  const lane = lineThrough(line, ({ time, onHost }) => time - onHost);
  const fixed = Math.min(lane.fixed, lineThrough(line, ({ cpuBeside }) => cpuBeside).fixed);
  return {
    ...limits,
    onHost: lineThrough(line, ({ onHost }) => onHost),
    // That the lane's reply wakes HTTP's thread was measured with it, and is in the model by itself.
    lane: { wait: Math.max(0, lane.fixed - fixed - wakeUp), fixed, each: lane.each },
  };
};

/** The fastest wave of its size. */
const fastestLine = (waves: readonly Wave[]): Line => {
  const sorted = waves.toSorted((one, other) => one.time - other.time);
  const least = Math.min(...waves.map(({ plants }) => plants));
  const small = sorted.find(({ plants }) => plants === least);
  const big = sorted.find(({ plants }) => plants !== least);
  if (small === undefined || big === undefined) throw new Error('a line has two points');
  return { small, big };
};

/** What each part costs in its best round: others on the machine can only make it slower. */
export const costsOf = (rounds: readonly Round[], cores: number): Costs => {
  const nothing = {
    one: fastest(rounds.map((round) => round.nothing.one)),
    many: fastest(rounds.map((round) => round.nothing.many)),
  };
  const front = frontOf(nothing, cores);
  const lineOf = (store: 'sqlite' | 'postgres') =>
    fastestLine(rounds.flatMap(({ alone }) => alone[store]));
  const postgres = storeOf(lineOf('postgres'), front, { lanes: 2, maxBatch: 1_000 });
  const lane = { ...postgres.lane, wait: postgres.lane.wait + slowerByMs * 1e3 };
  return {
    front,
    stores: {
      sqlite: storeOf(lineOf('sqlite'), front, { lanes: 1, maxBatch: Number.POSITIVE_INFINITY }),
      postgres,
      'postgres, slower': { ...postgres, lane },
    },
  };
};
