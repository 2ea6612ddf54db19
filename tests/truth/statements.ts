import { textOf } from './store.ts';
import type { LogLine, Program, Sent, Time, World } from './world.ts';

/** How many statements were compared, and those that are false. */
export type Outcome = {
  readonly checked: number;
  readonly falsehoods: readonly { readonly statement: string; readonly what: string }[];
};

/** Compares every statement of a run that has ended with the disk and with what was done. */
export function judgeRun(world: World): Outcome {
  const judge = createJudge(world);
  const made: { statement: string; isTrue: boolean; what: Time }[] = [...world.compared];
  for (const [kind, about] of Object.entries<Readonly<Record<string, Statement<never>>>>(
    statements,
  ))
    for (const what of judge.subjects[kind as keyof Subjects])
      for (const [statement, compare] of Object.entries(about)) {
        const isTrue = compare(what as never, judge);
        if (isTrue !== undefined) made.push({ statement, isTrue, what });
      }
  const falsehoods = made
    .filter(({ isTrue }) => !isTrue)
    .map(({ statement, what }) => ({
      statement,
      what: `${describe(what)} | causes: ${judge.causesIn(what).join()}`,
    }));
  return { checked: made.length, falsehoods };
}

/** Describes a subject in some hundred characters. */
function describe(subject: object): string {
  return JSON.stringify(subject, (key, value: unknown) => {
    if (key === 'process' || key === 'server' || key === 'rows') return undefined;
    return typeof value === 'string' ? value.replace(/^(.{40}).{99,}(.{300})$/s, '$1…$2') : value;
  });
}

/** Whether a statement about a subject is true; `undefined` if none was made. */
type Statement<T> = (subject: T, judge: Judge) => boolean | undefined;
type Judge = ReturnType<typeof createJudge>;
type Subjects = Judge['subjects'];

/** What the program says about each of its subjects. */
const statements: {
  readonly [Kind in keyof Subjects]: Readonly<Record<string, Statement<Subjects[Kind][number]>>>;
} = {
  sent: {
    '200: the response is the plant': ({ status, text, json: { name, tag, ...others } = {} }) =>
      status === 200 ? textOf(name, tag) === text && Object.keys(others).length === 0 : undefined,
    '1401: the disk has another plant with the id': ({ json, id, text, from }, { disk, lostAt }) =>
      json?.error === 1401 && from > lostAt ? disk.has(id) && disk.get(id) !== text : undefined,
    '400: the plant is not stored': ({ status, id, text }, { disk, mayBeStored }) =>
      status === 400 && !mayBeStored.has(id + text) ? disk.get(id) !== text : undefined,
    '503: its cause is true'(one, { isCaused }) {
      const cause = one.line?.cause;
      if (one.status !== 503 || cause === undefined || isOfStop(one)) return undefined;
      // The time that it took is said in milliseconds.
      const saidMs = isTimeout(cause) ? Number(/(\d+) ms/.exec(cause)?.[1]) : Infinity;
      return isCaused(cause, one) || one.to - one.from >= saidMs - clockMs;
    },
    'a response is 200, 400 or 503': ({ status }) =>
      status === undefined ? undefined : [200, 400, 503].includes(status),
    'a request that has arrived has a response'(one, { causesIn, isEndedByDisk }) {
      const { status, endingAt, to } = one.server;
      const hasArrived = one.to < Math.min(endingAt, to) || (status === 0 && one.line);
      // Without a descriptor, a connection is closed as it is accepted.
      const mayBeCut = one.leaves || isEndedByDisk(one.server) || causesIn(one).includes('limits');
      return hasArrived && !mayBeCut ? one.status !== undefined : undefined;
    },
    'the log has each response with its status'({ server, status, json, line }) {
      const isWhole = server.status === 0 && !server.lines?.some(({ dropped }) => dropped);
      if (status === undefined || (line === undefined && !isWhole)) return undefined;
      return line?.status === status && line.error === json?.error;
    },
  },
  copies: {
    '200: the plant is on the disk, in each export and in each backup': (one, { lostAt }) =>
      one.status === 200 && one.to <= one.readAt && one.from >= lostAt
        ? one.found === one.text
        : undefined,
  },
  rows: {
    'no plant is stored that was not sent': ({ row, sentAt, to }) =>
      sentAt <= to || /\["another"|"rewritten"\]$/.test(row),
  },
  readings: { 'the database is sound': ({ damage }) => damage === undefined },
  probes: {
    '/readyz 200: a create succeeds'(probe, { causesIn, isChanging }) {
      const { ready, created } = probe;
      // A create takes longer on a busy machine. With these causes, it takes too long.
      const mustBeLate = /lock|network|standby|read-only|role/.test(causesIn(probe).join());
      const isSlow = isTimeout(created.line?.cause ?? '') && !mustBeLate;
      const isExcused = isChanging(probe) || isSlow || causesIn(probe).includes('chance');
      return ready === 200 && !isExcused && !isOfStop(created) ? created.status !== 503 : undefined;
    },
    // A check that times out says so.
    '/readyz 503: a create does not succeed': (probe, { causesIn }) =>
      probe.ready === 503 && probe.ms < 1_000 - clockMs && !causesIn(probe).length
        ? probe.created.status !== 200 || isOfStop(probe.created)
        : undefined,
    '/livez 200: the server is alive': (probe, { causesIn }) =>
      causesIn(probe).includes('limits') || isOfStop(probe.created)
        ? undefined
        : probe.live === 200,
  },
  servers: {
    'a start that fails says why': (server, { isCaused }) =>
      server.url === undefined && server.ending !== 'SIGKILL'
        ? server.status === 1 && isCaused(server.errors, server)
        : undefined,
    'only an operator ends a server': ({ url, ending }) =>
      url === undefined ? undefined : ending !== undefined,
    'the exit status and the last line say how a server has ended'(server) {
      const { url, ending, endingAt, to, status, lines = [] } = server;
      if (url === undefined || ending === 'SIGKILL') return undefined;
      const last = lines.findLast(({ message }) => message.startsWith('stopped'))?.message ?? '';
      const isLate = ending === 'SIGTERM twice' || to - endingAt >= shutdownMs;
      if (status === 0) return last === 'stopped';
      return status === 1 && last.startsWith('stopped at once') && isLate;
    },
    'a stopped server leaves a WAL file with plants only if it says so'(server, { causesIn }) {
      const { status, ending, endingAt: from, to, log, walSize = 0 } = server;
      const hasOthers = causesIn({ from, to }).some((cause) => cause !== 'disk');
      if (status !== 0 || ending === 'SIGTERM twice' || hasOthers) return undefined;
      return log.includes('still in the WAL') === walSize > 0;
    },
  },
  lines: {
    'no line of the log reports a fault of the program': ({ message }) =>
      !/uncaught exception|health check failed|request failed/.test(message),
    'a certificate that was reread was renewed': (line, { causesIn }) =>
      line.message === 'the certificate was reread' ? causesIn(line).includes('tls') : undefined,
    'a reason of the log is true'({ reason, level, ...time }, { isCaused }) {
      if (reason === undefined || level === 'info') return undefined;
      return isTimeout(reason) || isCaused(reason, time);
    },
  },
  commands: {
    'a command that fails says why': (command, { isCaused }) =>
      command.ending === undefined && command.status !== 0
        ? command.status === 3 || (command.status === 1 && isCaused(command.errors, command))
        : undefined,
    'a start succeeds if its settings are right'({ args, status, to }, { subjects, causesIn }) {
      const next = subjects.servers.find(({ from }) => from >= to);
      const isKnown = args.includes('--check-settings') && next;
      if (!isKnown || causesIn({ from: to, to: next.from }).length > 1) return undefined;
      return (status === 0) === (next.url !== undefined);
    },
  },
  metrics: { 'each value of /metrics is true': ({ value, expected }) => value === expected },
};

/** The limit of a stop, and by how much the clocks of two processes differ. */
const [shutdownMs, clockMs] = [2_000, 20];

const isTimeout = (text: string) => /timed out after|within \d+ ms/.test(text);

/** Whether a request has ended after its server began to stop. */
const isOfStop = ({ to, server }: Sent) => to > server.endingAt;

const isBusError = ({ process }: Program) => process.signalCode === 'SIGBUS';

/** What was said, what the disk has after the run, and what can have caused it. */
function createJudge(world: World) {
  const { lostAt, readings, sent, servers, commands, written } = world;
  const disk = readings.at(-1)?.rows ?? new Map<string, string>();
  const others = sent.filter(({ status }) => status !== 400);
  const mayBeStored = new Set([...written, ...others.map(({ id, text }) => id + text)]);
  // A line that is no JSON ends the run.
  const parse = (line: string) => JSON.parse(line) as LogLine;
  for (const one of servers) one.lines = one.log.split('\n').slice(0, -1).map(parse);
  const lines = servers.flatMap((server) => server.lines ?? []);
  const byRequest = new Map(lines.map((line) => [line.requestId, line]));
  for (const one of sent) one.line = byRequest.get(one.requestId);
  // A busy machine may recover late: a cause is over once a create that was sent 2 s later has
  // succeeded.
  const causes = world.causes.map(({ names, from, to: end }) => {
    const isAfter = (one: Sent) => one.status === 200 && one.from > end + 2_000;
    return { names, from, to: sent.find(isAfter)?.to ?? Infinity };
  });
  const subjects = {
    sent,
    probes: world.probes,
    readings,
    servers: servers.filter((one) => !isEndedByDisk(one)),
    // A command that reads does not ask for space, because a backup must be possible without.
    commands: commands.filter((one) => !isBusError(one) || !causesIn(one).includes('disk')),
    copies: readings.flatMap(({ name, rows, from: readAt }) =>
      sent.map((one) => ({ ...one, name, readAt, found: rows.get(one.id) })),
    ),
    rows: rowsOf(world),
    lines: servers.flatMap(({ lines: all = [], from, to }) =>
      all.map((one) => ({ ...one, from, to })),
    ),
    metrics: metricsOf(world),
  };
  return { lostAt, disk, mayBeStored, subjects, causesIn, isCaused, isChanging, isEndedByDisk };

  function causesIn({ from, to }: Time): readonly string[] {
    const found = causes.filter((one) => one.from <= to && one.to >= from);
    return [...new Set(found.flatMap(({ names }) => names))];
  }

  /** Whether a cause began or ended meanwhile. */
  function isChanging({ from, to }: Time): boolean {
    const isIn = (start: number, end: number) => start <= to && end >= from;
    return world.causes.some((one) => isIn(one.from, one.begunAt) || isIn(one.endsAt, one.to));
  }

  /** A disk that becomes full after a start has asked for space can end the process. */
  function isEndedByDisk(one: Program): boolean {
    return isBusError(one) && isChanging({ from: one.to - 1_000, to: one.to });
  }

  /** Whether one of the causes of a reason was there, or any if the reason is not in the table. */
  function isCaused(text: string, time: Time): boolean {
    const [line = ''] = text.split('\ncaused by');
    const [, expected] = world.store.reasons.find(([reason]) => reason.test(line)) ?? [];
    return causesIn(time).some((one) => expected?.split(' ').includes(one) ?? true);
  }
}

/** Each row of each reading, and when it was first sent. */
function rowsOf({ written, sent, readings }: World) {
  const first = new Map<string, number>();
  for (const { id, text, from } of sent.toReversed()) first.set(id + text, from);
  for (const row of written) first.set(row, -Infinity);
  return readings.flatMap(({ name, rows, from, to }) =>
    [...rows].map(([id, text]) => {
      const row = id + text;
      return { name, from, to, row, sentAt: first.get(row) ?? Infinity };
    }),
  );
}

/** Each value of the last `/metrics`, and the one that is expected. */
function metricsOf({ metrics, server }: World) {
  if (server === undefined || metrics.body === '') return [];
  const requests = (server.lines ?? []).filter(({ requestId }) => requestId);
  const expected: [name: string, value: number][] = [
    ['plants_waiting', 0],
    ['requests_in_flight', 0],
    ['store_up', 1],
    ['sqlite_wal_bytes', metrics.walSize],
    ['request_duration_seconds_count', requests.length],
  ];
  for (const status of [200, 400, 401, 503]) {
    const count = requests.filter((line) => line.status === status).length;
    expected.push([String.raw`requests_total\{.*status="${status}".*\}`, count]);
  }
  return expected.map(([name, one]) => {
    const found = metrics.body.matchAll(new RegExp(`^plantstore_${name} (.+)$`, 'gm'));
    const value = [...found].reduce((sum, [, text]) => sum + Number(text), 0);
    return { from: server.from, to: server.to, name, value, expected: one };
  });
}
