import type { Program, Sent, World } from './world.ts';

/** How many statements were compared, and those that are false. */
export type Outcome = { readonly checked: number; readonly falsehoods: readonly Falsehood[] };
type Falsehood = { readonly statement: string; readonly what: string };

type Time = { readonly from: number; readonly to: number };
/** Whether a statement about it is true; `undefined` if none was made. */
type Statement<T> = (subject: T, judge: Judge) => boolean | undefined;

/** Compares every statement of a run that has ended with the disk and with what was done. */
export function judgeRun(world: World): Outcome {
  const judge = new Judge(world);
  const all = subjects.flatMap((compare) => [...compare(judge)]);
  const made = [...world.compared.map((one) => ({ ...one, causes: [''] })), ...all];
  const falsehoods = made
    .filter(({ isTrue }) => !isTrue)
    .map(({ statement, what, causes }) => ({ statement, what: `${what} | ${causes.join()}` }));
  return { checked: made.length, falsehoods };
}

/** What the program says about each of its subjects. */
const subjects = [
  about<Sent>(({ world }) => world.sent, describe, {
    '200: the response is the plant': ({ status, json: { name, tag, ...others } = {}, text }) =>
      status === 200
        ? JSON.stringify([name, tag ?? null, others]) === `${text.slice(0, -1)},{}]`
        : undefined,
    '1401: the disk has another plant with the id': ({ json, id, text, from }, { world, disk }) =>
      json?.error === 1401 && from > world.lostAt
        ? disk.has(id) && disk.get(id) !== text
        : undefined,
    '400: the plant is not stored': ({ status, id, text }, { disk, mayBeStored }) =>
      status === 400 && !mayBeStored.has(id + text) ? disk.get(id) !== text : undefined,
    '503: its cause is true'(one, { world, causeOf, isCaused }) {
      const cause = causeOf(one);
      if (one.status !== 503 || cause === '' || isOfStop(one)) return undefined;
      const isLate = one.to - one.from >= world.handlerMs - clockMs;
      return (isLate && isTimeout(cause)) || isCaused(cause, one);
    },
    'a response is 200, 400 or 503': ({ status }) =>
      status === undefined ? undefined : [200, 400, 503].includes(status),
    'a request that has arrived has a response'(one, { lineOf, causesIn }) {
      const { process, endingAt, to } = one.server;
      const hasArrived = process.exitCode === 0 && lineOf(one) !== undefined;
      // Without a descriptor, a connection is closed as it is accepted.
      const mayBeCut = one.leaves || causesIn(one).includes('limits');
      if (mayBeCut || (one.to >= Math.min(endingAt, to) && !hasArrived)) return undefined;
      return one.status !== undefined;
    },
    'the log has each response with its status'(one, { lineOf, linesOf }) {
      const line = lineOf(one);
      const { process } = one.server;
      const isWhole = process.exitCode === 0 && !linesOf(one.server).some(({ dropped }) => dropped);
      if (one.status === undefined || (line === undefined && !isWhole)) return undefined;
      return line?.status === one.status && line.error === one.json?.error;
    },
  }),
  about(copiesOf, ({ what }) => what, {
    '200: the plant is on the disk, in each export and in each backup': (one, { world }) =>
      one.status === 200 && one.to <= one.reading.from && one.from >= world.lostAt
        ? one.reading.rows.get(one.id) === one.text
        : undefined,
  }),
  about(rowsOf, ({ row }) => row, {
    'no plant is stored that was not sent': ({ row, sentAt, to }) =>
      sentAt <= to || /\["another"|"rewritten"\]$/.test(row),
  }),
  about(
    ({ world }) => world.readings,
    ({ name, damage }) => `${name}: ${damage}`,
    {
      'the database is sound': ({ damage }) => damage === undefined,
    },
  ),
  about(probesOf, ({ ready, live, created }) => `${live}, ${ready}, ${describe(created)}`, {
    '/readyz 200: a create succeeds'(
      { ready, created, isChanging, ...time },
      { causeOf, causesIn },
    ) {
      // A create takes longer on a busy machine. With these causes, it takes too long.
      const mustBeLate = /lock|network|standby/.test(causesIn(time).join());
      const isSlow = isTimeout(causeOf(created)) && !mustBeLate;
      const isExcused = isChanging || isSlow || causesIn(time).includes('chance');
      return ready === 200 && !isExcused && !isOfStop(created) ? created.status !== 503 : undefined;
    },
    // A check that times out says so.
    '/readyz 503: a create does not succeed': ({ ready, ms, created, ...time }, { causesIn }) =>
      ready === 503 && ms < 1_000 - clockMs && !causesIn(time).length && !isOfStop(created)
        ? created.status !== 200
        : undefined,
    '/livez 200: the server is alive': ({ live, created }, { causesIn }) =>
      causesIn(created).includes('limits') || isOfStop(created) ? undefined : live === 200,
  }),
  about<Program>(({ world }) => world.servers, describeProgram, {
    'a start that fails says why': (server, { isCaused }) =>
      server.url === undefined && server.ending !== 'SIGKILL'
        ? server.process.exitCode === 1 && isCaused(server.stderr(), server)
        : undefined,
    'only an operator ends a server': ({ url, ending }) =>
      url === undefined ? undefined : ending !== undefined,
    'the exit status and the last line say how a server has ended'(server, { world, linesOf }) {
      const { url, ending, endingAt, to, process } = server;
      if (!url || !ending || ending === 'SIGKILL') return undefined;
      const lines = linesOf(server).filter(({ message }) => message.startsWith('stopped'));
      const last = lines.at(-1)?.message ?? '';
      const isLate = to - endingAt >= Math.min(5_000, world.shutdownMs);
      if (process.exitCode === 0) return last === 'stopped';
      const isCut = last.startsWith('stopped at once') && (isLate || ending === 'SIGTERM twice');
      return process.exitCode === 1 && isCut;
    },
    'a stopped server leaves a WAL file with plants only if it says so'(server, { causesIn }) {
      const { process, ending, endingAt: from, to, stdout, walSize = 0 } = server;
      const hasOthers = causesIn({ from, to }).some((cause) => cause !== 'disk');
      if (process.exitCode !== 0 || ending === 'SIGTERM twice' || hasOthers) return undefined;
      return stdout().includes('still in the WAL') === walSize > 0;
    },
  }),
  about(linesOfAll, (line) => JSON.stringify(line), {
    'a line of the log is JSON, and reports no fault of the program': ({ message }) =>
      !/uncaught exception|health check failed|request failed|^$/.test(message),
    'a certificate that was reread was renewed': ({ message, ...time }, { causesIn }) =>
      message === 'the certificate was reread' ? causesIn(time).includes('tls') : undefined,
    'a reason of the log is true': ({ reason, level, ...time }, { isCaused }) =>
      reason === undefined || level === 'info'
        ? undefined
        : isTimeout(reason) || isCaused(reason, time),
  }),
  about<Program>(({ world }) => world.commands, describeProgram, {
    'a command that fails says why': ({ process, ending, stderr, ...time }, { isCaused }) =>
      ending === undefined && process.exitCode !== 0
        ? process.exitCode === 3 || (process.exitCode === 1 && isCaused(stderr(), time))
        : undefined,
    'a start succeeds if its settings are right'({ args, process, to }, { world, causesIn }) {
      const next = world.servers.find(({ from }) => from >= to);
      const isKnown = args.includes('--check-settings') && next;
      if (!isKnown || causesIn({ from: to, to: next.from }).length > 1) return undefined;
      return (process.exitCode === 0) === (next.url !== undefined);
    },
  }),
  about(metricsOf, ({ name, value, expected }) => `${name}: ${value}, not ${expected}`, {
    'each value of /metrics is true': ({ value, expected }) => value === expected,
  }),
];

function about<T extends Time>(
  find: (judge: Judge) => readonly T[],
  whatOf: (subject: T) => string,
  statements: Readonly<Record<string, Statement<T>>>,
) {
  return function* compare(judge: Judge) {
    for (const subject of find(judge))
      for (const [statement, compareOne] of Object.entries(statements)) {
        const isTrue = compareOne(subject, judge);
        const isFalse = isTrue === false;
        const what = isFalse ? whatOf(subject) : '';
        const causes = isFalse ? judge.causesIn(subject) : [];
        if (isTrue !== undefined) yield { statement, isTrue, what, causes };
      }
  };
}

function describe({ requestId, id, text, from, to, status, json }: Sent): string {
  const said = `${requestId}: ${id} ${text.slice(0, 60)} → ${status} ${json?.error ?? ''}`;
  return `${said} (${from.toFixed(0)}–${to.toFixed(0)})`;
}

function describeProgram({ args, process, ending, stdout, stderr }: Program): string {
  const said = `${args.join(' ')}: ${process.exitCode}, ${ending}`;
  return `${said}: ${stdout().slice(-600)}${stderr()}`;
}

/** Each create with each reading. */
function copiesOf({ world }: Judge) {
  return world.readings.flatMap((reading) =>
    world.sent.map((one) => {
      const found = reading.rows.get(one.id)?.slice(0, 60);
      return { ...one, reading, what: `${describe(one)} ${reading.name}: ${found}` };
    }),
  );
}

/** Each row of each reading, and when it was first sent. */
function rowsOf({ world }: Judge) {
  const first = new Map([...world.written].map((row) => [row, -Infinity]));
  for (const { id, text, from } of world.sent.toReversed())
    if (!world.written.has(id + text)) first.set(id + text, from);
  return world.readings.flatMap(({ rows, ...time }) =>
    [...rows].map(([id, text]) => ({
      ...time,
      row: id + text,
      sentAt: first.get(id + text) ?? Infinity,
    })),
  );
}

/** Each probe, and whether a cause began or ended meanwhile. */
function probesOf({ world: { probes, causes } }: Judge) {
  return probes.map((probe) => {
    const [from, to] = [probe.created.from - probe.ms, probe.created.to];
    const isIn = (start: number, end: number) => start <= to && end >= from;
    const isChanging = causes.some(
      (one) => isIn(one.from, one.begunAt) || isIn(one.endsAt, one.to),
    );
    return { ...probe, from, to, isChanging };
  });
}

function linesOfAll({ world, linesOf }: Judge) {
  return world.servers.flatMap((server) =>
    linesOf(server).map((line) => ({ ...line, from: server.from, to: server.to })),
  );
}

function metricsOf({ world: { metrics, server }, linesOf }: Judge) {
  if (server === undefined || metrics.body === '') return [];
  const requests = linesOf(server).filter(({ requestId }) => requestId);
  const totals = [200, 400, 401, 503].map((status) => [
    String.raw`plantstore_requests_total\{.*status="${status}".*\}`,
    requests.filter((line) => line.status === status).length,
  ]);
  const expected: Record<string, number> = {
    plantstore_plants_waiting: 0,
    plantstore_requests_in_flight: 0,
    plantstore_store_up: 1,
    plantstore_sqlite_wal_bytes: metrics.walSize,
    plantstore_request_duration_seconds_count: requests.length,
    ...Object.fromEntries(totals),
  };
  return Object.entries(expected).map(([name, one]) => {
    const found = metrics.body.matchAll(new RegExp(`^${name} (.+)$`, 'gm'));
    const value = [...found].reduce((sum, [, text]) => sum + Number(text), 0);
    return { ...server, name, value, expected: one };
  });
}

type LogLine = Partial<Record<'level' | 'requestId' | 'cause' | 'reason', string>> &
  Partial<Record<'status' | 'error' | 'dropped', number>> & { readonly message: string };

/** Clocks of two processes differ by less, in milliseconds. */
const clockMs = 20;

const isTimeout = (text: string) => /timed out after|within \d+ ms/.test(text);

/** Whether a request has ended after its server began to stop. */
const isOfStop = ({ to, server }: Sent) => to > server.endingAt;

/** What was said and done, and what can have caused it. */
class Judge {
  readonly world: World;
  /** What the disk has after the run. */
  readonly disk: ReadonlyMap<string, string>;
  /** Plants, as id and text, with a result other than 400. */
  readonly mayBeStored: ReadonlySet<string>;
  readonly #lines: ReadonlyMap<string, readonly LogLine[]>;
  readonly #byRequest = new Map<string | undefined, LogLine>();
  readonly #causes: readonly (Time & { readonly names: readonly string[] })[];

  constructor(world: World) {
    this.world = world;
    this.disk = world.readings.at(-1)?.rows ?? new Map();
    const others = world.sent.filter(({ status }) => status !== 400);
    this.mayBeStored = new Set([...world.written, ...others.map(({ id, text }) => id + text)]);
    const logs = world.servers.map(({ stdout }) => stdout());
    this.#lines = new Map(logs.map((log) => [log, parseLines(log)]));
    for (const line of [...this.#lines.values()].flat()) this.#byRequest.set(line.requestId, line);
    // A busy machine may recover late: a cause is over once a create that was sent 2 s later has
    // succeeded.
    this.#causes = world.causes.map(({ names, from, to: end }) => {
      const isAfter = (one: Sent) => one.status === 200 && one.from > end + 2_000;
      return { names, from, to: world.sent.find(isAfter)?.to ?? Infinity };
    });
  }

  readonly causesIn = ({ from, to }: Time): readonly string[] => {
    const found = this.#causes.filter((one) => one.from <= to && one.to >= from);
    return [...new Set(found.flatMap(({ names }) => names))];
  };

  /** Whether one of the causes of a reason was there, or any if the reason is not in the table. */
  readonly isCaused = (text: string, time: Time): boolean => {
    const [line = ''] = text.split('\ncaused by');
    const [, expected] = this.world.store.reasons.find(([reason]) => reason.test(line)) ?? [];
    return this.causesIn(time).some((one) => expected?.split(' ').includes(one) ?? true);
  };

  readonly linesOf = (server: Program) => this.#lines.get(server.stdout()) ?? [];
  readonly lineOf = (one: Sent) => this.#byRequest.get(one.requestId);
  readonly causeOf = (one: Sent) => this.lineOf(one)?.cause ?? '';
}

/** Returns the lines of a log. One that is no JSON has no message. */
function parseLines(text: string): readonly LogLine[] {
  const parse = (line: string): LogLine => {
    try {
      return JSON.parse(line) as LogLine;
    } catch {
      return { message: '', reason: line };
    }
  };
  return text.split('\n').slice(0, -1).map(parse);
}
