import type { Program, Sent, World } from './world.ts';

/** A statement that is false, and what was found. */
export type Falsehood = { readonly statement: string; readonly what: string };

/** Whether a statement is true, what was found, and when something can have caused it. */
type Judged = readonly [isTrue: boolean, what: string, time?: Time, name?: string];
type Time = { readonly from: number; readonly to: number };

/** Compares every statement of a run that has ended. */
export function judge(world: World) {
  const judged = new Judge(world);
  const falsehoods: Falsehood[] = [];
  let checked = 0;
  for (const [group, statement] of Object.entries(statements)) {
    for (const [isTrue, what, time = ever, name = group] of statement(world, judged)) {
      checked += 1;
      const causes = isTrue ? [] : judged.causesIn(time);
      if (!isTrue) falsehoods.push({ statement: name, what: `${what} | causes: ${causes.join()}` });
    }
  }
  return { checked, falsehoods };
}

const ever: Time = { from: -Infinity, to: Infinity };

/** What the program says, and how it is compared with the disk and with what was done. */
const statements: Readonly<Record<string, (world: World, judge: Judge) => Iterable<Judged>>> = {
  *'200: the plant is on the disk, in each export and in each backup'(world) {
    for (const { name, from, disk } of world.readings)
      for (const one of createsOf(world, 200)) {
        const found = disk.rows.get(one.id);
        const isRequired = one.to <= from && one.from >= world.lostAt;
        if (isRequired) yield [found === one.text, `${describe(one)} ${name}: ${found}`, one];
      }
  },
  *'no plant is stored that was not sent'({ readings, sent, written }) {
    for (const { name, to, disk } of readings) {
      const before = sent.filter(({ from }) => from <= to);
      const known = new Set([...written, ...before.map(({ id, text }) => id + text)]);
      for (const [id, text] of disk.rows)
        yield [known.has(id + text), `${name}: ${id} ${text}`, { from: 0, to }];
    }
  },
  *'200: the response is the plant'(world) {
    for (const one of createsOf(world, 200)) {
      const { name, tag, ...others } = one.json ?? {};
      const said = JSON.stringify([name, tag ?? null, others]);
      yield [said === `${one.text.slice(0, -1)},{}]`, describe(one), one];
    }
  },
  *'1401: the disk has another plant with the id'(world) {
    for (const one of createsOf(world, 400)) {
      const found = world.readings.at(-1)?.disk.rows.get(one.id);
      const isOther = found !== undefined && found !== one.text;
      if (one.json?.error === 1401 && one.from > world.lostAt)
        yield [isOther, `${describe(one)} ${found}`, one];
    }
  },
  *'400: the plant is not stored'(world) {
    const others = world.sent.filter(({ status }) => status !== 400);
    const known = new Set([...world.written, ...others.map(({ id, text }) => id + text)]);
    for (const one of createsOf(world, 400)) {
      const isStored = world.readings.at(-1)?.disk.rows.get(one.id) === one.text;
      yield [!isStored || known.has(one.id + one.text), describe(one), one];
    }
  },
  *'503: its cause is true'(world, { logOf, isCaused }) {
    for (const one of createsOf(world, 503)) {
      const cause = logOf(one.server).byId.get(one.requestId)?.cause;
      if (cause === undefined || one.to > one.server.endingAt) continue;
      const isLate = one.to - one.from >= world.plan.handlerMs - clockMs && isTimeout(cause);
      yield [isLate || isCaused(cause, one), `${describe(one)} ${cause}`, one];
    }
  },
  *'a response is 200, 400 or 503'({ sent }) {
    for (const one of sent)
      yield [[200, 400, 503, undefined].includes(one.status), describe(one), one];
  },
  *'/readyz 200: a create succeeds'({ probes, causes }, { logOf, causesIn }) {
    for (const { ready, ms, created } of probes) {
      const { from, to, server, requestId, status } = created;
      const isIn = (start: number, end: number) => start <= to && end >= from - ms;
      const changes = causes.some((one) => isIn(one.from, one.begunAt) || isIn(one.endsAt, one.to));
      const then = causesIn(created);
      // A create takes longer on a busy machine. With each of these causes, it takes too long.
      const isLate = isTimeout(logOf(server).byId.get(requestId)?.cause ?? '');
      const isSlow = isLate && !then.some((cause) => /^(lock|network|standby)$/.test(cause));
      const isExcused = changes || isSlow || then.includes('chance') || to > server.endingAt;
      if (ready === 200 && !isExcused) yield [status !== 503, describe(created), created];
    }
  },
  *'/readyz 503: a create does not succeed'({ probes }, { causesIn }) {
    for (const { ready, ms, created } of probes) {
      const { from, to, server, status } = created;
      const isCausedThen = causesIn({ from: from - ms, to }).length > 0;
      // A check that times out says so.
      if (ready === 503 && ms < 1_000 - clockMs && !isCausedThen && to < server.endingAt)
        yield [status !== 200, describe(created), created];
    }
  },
  *'a request that has arrived has a response'({ sent }, { logOf, causesIn }) {
    for (const one of sent) {
      const { child, endingAt, to } = one.server;
      const hasArrived = child.exitCode === 0 && logOf(one.server).byId.has(one.requestId);
      const mustRespond = one.to < Math.min(endingAt, to) || hasArrived;
      // Without a descriptor, a connection is closed as it is accepted.
      if (mustRespond && !one.leaves && !causesIn(one).includes('limits'))
        yield [one.status !== undefined, describe(one), one];
    }
  },
  *'the log has each response with its status'({ sent }, { logOf }) {
    for (const one of sent) {
      const { lines, byId } = logOf(one.server);
      const line = byId.get(one.requestId);
      const isWhole = one.server.child.exitCode === 0 && !lines.some(({ dropped }) => dropped);
      if (one.status === undefined || (line === undefined && !isWhole)) continue;
      const isSame = line?.status === one.status && line.error === one.json?.error;
      yield [isSame, `${describe(one)} ${JSON.stringify(line)}`, one];
    }
  },
  *'a line of the log is true'({ servers, tokens }, { logOf, isCaused }) {
    for (const server of servers)
      for (const line of logOf(server).lines) {
        const { message, level, reason } = line;
        const what = JSON.stringify(line);
        if (/uncaught exception|health check failed|request failed|no JSON/.test(message))
          yield [false, what, server];
        if (line.tokens !== undefined) yield [tokens.includes(line.tokens), what, server];
        if (reason !== undefined && level !== 'info')
          yield [isTimeout(reason) || isCaused(reason, server), what, server];
      }
  },
  *'the exit status and the last line say how the server ended'(world, { logOf, isCaused }) {
    for (const server of world.servers) {
      const { child, ending, endingAt, to, stdout, stderr, url } = server;
      const what = `status ${child.exitCode}, ${ending}: ${stdout.slice(-600)}${stderr}`;
      const lines = logOf(server).lines.filter(({ message }) => message.startsWith('stopped'));
      const last = lines.at(-1)?.message ?? '';
      const deadlineMs = Math.min(5_000, world.plan.shutdownMs);
      const isLate = ending === 'SIGTERM twice' || to - endingAt >= deadlineMs;
      if (ending === 'kill') continue;
      if (url === undefined) yield [child.exitCode === 1 && isCaused(what, server), what, server];
      else if (ending === undefined) yield [false, what, server];
      else if (child.exitCode === 0) yield [last === 'stopped', what, server];
      else {
        const isCut = child.exitCode === 1 && last.startsWith('stopped at once');
        yield [isCut && isLate, what, { from: endingAt, to }];
      }
    }
  },
  *'a stopped server leaves a WAL file with plants only if it says so'({ servers }, { causesIn }) {
    for (const { ending, child, endingAt: from, to, walSize = 0, stdout } of servers) {
      const others = causesIn({ from, to }).filter((one) => one !== 'disk');
      const isSaid = stdout.includes('still in the WAL');
      if (ending !== 'SIGTERM twice' && child.exitCode === 0 && others.length === 0)
        yield [isSaid === walSize > 0, `${isSaid}, ${walSize} bytes`, { from, to }];
    }
  },
  *'a failing command says why'({ commands }, { isCaused }) {
    for (const command of commands) {
      const { args, child, ending, stderr } = command;
      const isKnown = child.exitCode === 3 || (child.exitCode === 1 && isCaused(stderr, command));
      if (ending === undefined && child.exitCode !== 0)
        yield [isKnown, `${args.join(' ')}: ${child.exitCode} ${stderr}`, command];
    }
  },
  *'the database is sound'({ readings }) {
    for (const reading of readings)
      yield [reading.disk.damage === undefined, `${reading.name}: ${reading.disk.damage}`, reading];
  },
  *'each value of /metrics is true'({ metrics, server, walSize }, { logOf }) {
    if (server === undefined || metrics === '') return;
    const { lines } = logOf(server);
    const sum = (name: string) =>
      [...metrics.matchAll(new RegExp(`^${name} (.+)$`, 'gm'))]
        .map(([, value]) => Number(value))
        .reduce((one, other) => one + other, 0);
    const expected = {
      plantstore_plants_waiting: 0,
      plantstore_requests_in_flight: 0,
      plantstore_store_up: 1,
      plantstore_sqlite_wal_bytes: walSize,
      ...Object.fromEntries(
        [200, 400, 503].map((status) => [
          String.raw`plantstore_requests_total\{.*status="${status}".*\}`,
          lines.filter((line) => line.requestId && line.status === status).length,
        ]),
      ),
    };
    for (const [name, value] of Object.entries(expected))
      yield [sum(name) === value, `${name}: ${sum(name)}, not ${value}`, server];
  },
  *'what an act compares is true'({ compared }) {
    for (const { name, isTrue, what } of compared) yield [isTrue, what, ever, name];
  },
};

type LogLine = {
  readonly message: string;
  readonly level: string;
  readonly requestId?: string;
  readonly status?: number;
  readonly error?: number;
  readonly cause?: string;
  readonly reason?: string;
  readonly tokens?: number;
  readonly dropped?: number;
};

/** Clocks of two processes differ by less, in milliseconds. */
const clockMs = 20;

const isTimeout = (text: string) => /timed out after|within \d+ ms/.test(text);

/** What can have caused a statement. */
class Judge {
  readonly #logs = new Map<Program, ReturnType<typeof parseLog>>();
  readonly #causes: readonly { readonly names: readonly string[]; from: number; to: number }[];
  readonly #reasons: World['store']['reasons'];

  constructor({ causes, sent, store }: World) {
    this.#reasons = store.reasons;
    // A busy machine may recover late: a cause is over once a create that was sent 2 s later has
    // succeeded.
    this.#causes = causes.map(({ names, from, to: end }) => {
      const isAfter = (one: Sent) => one.status === 200 && one.from > end + 2_000;
      return { names, from, to: sent.find(isAfter)?.to ?? Infinity };
    });
  }

  readonly causesIn = ({ from, to }: Time): readonly string[] => {
    const found = this.#causes.filter((one) => one.from <= to && one.to >= from);
    return [...new Set(found.flatMap(({ names }) => names))];
  };

  /** Whether one of the causes of a reason was there, or any if the reason is not in the table. */
  readonly isCaused = (text: string, time: Time): boolean => {
    const causes = this.causesIn(time);
    const [line = ''] = text.split('\ncaused by');
    const [, expected] = this.#reasons.find(([reason]) => reason.test(line)) ?? [];
    return causes.some((one) => expected?.split(' ').includes(one) ?? true);
  };

  readonly logOf = (server: Program) => {
    const log = this.#logs.get(server) ?? parseLog(server.stdout);
    this.#logs.set(server, log);
    return log;
  };
}

/** Returns the lines of a log, and those of requests by their ids. */
function parseLog(text: string) {
  const lines = text.split('\n').slice(0, -1).map(parseLine);
  return { lines, byId: new Map(lines.map((line) => [line.requestId, line])) };
}

function parseLine(line: string): LogLine {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return { level: 'error', message: `no JSON: ${line}` };
  }
}

function createsOf({ sent }: World, status: number): readonly Sent[] {
  return sent.filter((one) => one.status === status);
}

function describe({ requestId, id, text, from, to, status, json }: Sent): string {
  const said = `${requestId}: ${id} ${text.slice(0, 60)} → ${status} ${json?.error ?? ''}`;
  return `${said} (${from.toFixed(0)}–${to.toFixed(0)})`;
}
