import { availableParallelism } from 'node:os';
import type { Spread } from '../results.ts';
import { inWords, spreadOf } from '../spread.ts';
import { asText } from '../tables.ts';
import { type Costs, costsOf } from './costs.ts';
import type { Footprint } from './footprint.ts';
import type { Point, Round } from './measure-round.ts';
import { predict } from './model.ts';

const tell = (title: string, rows: readonly (readonly string[])[]): void => {
  console.log(`${title}\n\n${asText(rows)}\n`);
};

/** One point of all rounds. */
type Column = readonly { readonly round: Round; readonly point: Point }[];

const rowOf = (column: Column, { front, stores }: Costs): string[] => {
  const [first] = column;
  if (first === undefined) return [];
  const { store, connections } = first.point;
  const of = (pick: (point: Point, round: Round) => number): Spread =>
    spreadOf(column.map(({ point, round }) => pick(point, round)));
  const perSecond = of(({ measured }) => measured.perSecond);
  const latency = of(({ measured }) => measured.latency.mean);
  const predicted = predict(front, stores[store], connections);
  const error = (predicted.perSecond / perSecond.most - 1) * 100;
  return [
    store,
    String(connections),
    inWords(
      of(({ measured }, { bare }) => measured.perSecond / bare.perSecond),
      2,
    ),
    inWords(
      of(({ measured }, { bare }) => measured.cpuPerRequest / bare.cpuPerRequest),
      1,
    ),
    inWords(perSecond, 0),
    predicted.perSecond.toFixed(0),
    `${error > 0 ? '+' : '−'}${Math.abs(error).toFixed(0)} %`,
    inWords(latency, 2),
    predicted.meanLatencyMs.toFixed(2),
    predicted.meanBatch.toFixed(0),
  ];
};

const microseconds = (time: number): string => time.toFixed(1);

/** Prints what each part costs, and what the whole reached beside what the model says. */
export const tellRounds = (rounds: readonly Round[]): void => {
  const costs = costsOf(rounds, availableParallelism());
  const bare = spreadOf(rounds.map((round) => round.bare.perSecond));
  const bareCpu = spreadOf(rounds.map((round) => round.bare.cpuPerRequest));
  console.log(
    `Bare node:http by 64: ${inWords(bare, 0)} a second, ${inWords(bareCpu, 1)} µs CPU a request\n`,
  );
  tell('What each part costs by itself in its best round, µs', [
    ['HTTP, a request', microseconds(costs.front.http)],
    ['clients, a request', microseconds(costs.front.client)],
    ['waking a thread', microseconds(costs.front.wakeUp)],
    ...Object.entries(costs.stores).flatMap(([store, { onHost, lane }]) => [
      [`${store}: on HTTP's thread, a batch`, microseconds(onHost.fixed)],
      [`${store}: on HTTP's thread, a plant`, microseconds(onHost.each)],
      [`${store}: beside it, a batch, waiting`, microseconds(lane.wait)],
      [`${store}: beside it, a batch, work`, microseconds(lane.fixed)],
      [`${store}: beside it, a plant`, microseconds(lane.each)],
    ]),
  ]);
  const points = rounds.flatMap((round) => round.points.map((point) => ({ round, point })));
  const columns = Map.groupBy(points, ({ point }) => `${point.store} by ${point.connections}`);
  const inOrder = [...columns.values()].toSorted(
    ([one], [other]) => (one?.point.connections ?? 0) - (other?.point.connections ?? 0),
  );
  for (const store of ['sqlite', 'postgres', 'postgres, slower'])
    tell('What the whole reaches, and what the model says of the best round', [
      [
        '',
        'connections',
        'of bare',
        'CPU of bare',
        'a second',
        'model',
        'off',
        'mean ms',
        'model',
        'a batch',
      ],
      ...inOrder
        .filter(([first]) => first?.point.store === store)
        .map((column) => rowOf(column, costs)),
    ]);
};

/** Prints what the model says of commits that take longer, as with a standby that must confirm. */
export const tellSlowerCommits = (rounds: readonly Round[]): void => {
  const { front, stores } = costsOf(rounds, availableParallelism());
  const { lane, ...postgres } = stores.postgres;
  const delays = [0, 1, 5, 20];
  tell('What postgres has left if commits take longer, a second, by the model', [
    ['connections', ...delays.map((delay) => `+${delay} ms`)],
    ...[1, 16, 64, 256, 1_024].map((connections) => [
      String(connections),
      ...delays.map((delay) => {
        const slower = { ...postgres, lane: { ...lane, wait: lane.wait + delay * 1e3 } };
        return predict(front, slower, connections).perSecond.toFixed(0);
      }),
    ]),
  ]);
};

/** Prints what plants and connections take. */
export const tellFootprint = ({ plants, storage, network, idle }: Footprint): void => {
  tell(`Bytes for each of ${plants} plants`, [
    ['store', 'ids', 'kept', 'written'],
    ...storage.map(({ store, ids, kept, written }) => [
      store,
      ids,
      kept.toFixed(0),
      written.toFixed(0),
    ]),
  ]);
  tell('Bytes on the wire', [
    ['request', 'answer'],
    [String(network.request), String(network.answer)],
  ]);
  tell('Memory of a host', [
    ['connections', 'MiB'],
    ...idle.map(({ connections, residentMiB }) => [String(connections), residentMiB.toFixed(0)]),
  ]);
};
