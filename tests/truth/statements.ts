import type { Life, Sent, World } from './world.ts';

/** A statement that is true or false, the time in which something can have caused it, and what was found. */
type Judged = {
  readonly isTrue: boolean;
  /** Default is the name of the row. */
  readonly name?: string;
  readonly what: string;
  readonly from?: number;
  readonly to?: number;
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

/** What the program says, and how each statement is compared with the disk and with what was done. */
export const statements: Readonly<Record<string, (world: World) => Iterable<Judged>>> = {
  *'200: the plant is on the disk, in each export and in each backup'(world) {
    for (const { name, from, disk } of world.readings) {
      for (const one of createsOf(world, 200)) {
        if (one.to > from || one.from < world.lostAt) continue;
        const found = disk.rows.get(one.id ?? '');
        yield { ...describe(one, `${name}: ${found ?? 'nothing'}`), isTrue: found === one.text };
      }
    }
  },
  *'no plant is stored that was not sent'(world) {
    for (const { name, to, disk } of world.readings) {
      const sent = new Map([...world.written].map(([id, texts]) => [id, new Set(texts)]));
      for (const { id, text, from } of world.sent) {
        if (id !== undefined && from <= to)
          sent.set(id, (sent.get(id) ?? new Set()).add(text ?? ''));
      }
      for (const [id, text] of disk.rows)
        yield {
          isTrue: sent.get(id)?.has(text) === true,
          what: `${name}: ${id} ${text}`,
          from: 0,
          to,
        };
    }
  },
  *'200: the response is the plant'(world) {
    for (const one of createsOf(world, 200)) {
      const { name, tag, ...others } = one.json ?? {};
      const isTrue =
        JSON.stringify([name, tag ?? null, others]) === `${one.text?.slice(0, -1)},{}]`;
      yield { ...describe(one), isTrue };
    }
  },
  *'1401: the disk has another plant with the id'(world) {
    for (const one of createsOf(world, 400, 1401)) {
      const found = finalRows(world).get(one.id ?? '');
      if (one.from > world.lostAt)
        yield { ...describe(one, found), isTrue: found !== undefined && found !== one.text };
    }
  },
  *'a refused plant is not stored'(world) {
    const others = new Set(
      world.sent.filter(({ status }) => status !== 400).map(({ id, text }) => `${id} ${text}`),
    );
    for (const one of createsOf(world, 400)) {
      const { id = '', text = '' } = one;
      const isStored = finalRows(world).get(id) === text;
      const isOther = others.has(`${id} ${text}`) || world.written.get(id)?.has(text) === true;
      yield { ...describe(one), isTrue: !isStored || isOther };
    }
  },
  *'a response is 200, 400 or 503'(world) {
    for (const one of world.sent)
      if (one.status !== undefined)
        yield { ...describe(one), isTrue: [200, 400, 503].includes(one.status) };
  },
  *'503: its cause is true'(world) {
    for (const one of createsOf(world, 503)) {
      const text = linesOf(one.life).find(({ requestId }) => requestId === one.requestId)?.cause;
      const causes = world.causesIn(one.from, one.to);
      const mayStop = one.to > one.life.endingAt;
      if (text !== undefined && !mayStop)
        yield { ...describe(one, text), isTrue: isCaused(text, causes) };
    }
  },
  *'/readyz 200: a create succeeds'(world) {
    for (const { from, ready, created } of world.probes) {
      if (ready !== 200 || created.to > created.life.endingAt || created.status === undefined)
        continue;
      const what = `${created.status} ${created.requestId}`;
      // A fault that began or ended in between is no contradiction.
      const isSlow = world.causesIn(from, created.to).includes('slow');
      const isSame = world.isQuiet(from, created.to) && !isSlow;
      if (isSame) yield { isTrue: created.status !== 503, what, from, to: created.to };
    }
  },
  *'/readyz 503: a create does not succeed'(world) {
    for (const { from, ready, created } of world.probes) {
      const causes = world.causesIn(from - 2_500, created.to, 0);
      if (ready === 503 && causes.length === 0 && created.life.endingAt > created.to)
        yield { isTrue: created.status !== 200, what: created.requestId, from, to: created.to };
    }
  },
  *'a request that has arrived has a response'(world) {
    for (const one of world.sent) {
      const { ending, endingAt, child } = one.life;
      const isFinished = ending === 'stop' && child.exitCode === 0 && one.from < endingAt - 300;
      const isFrozen = world.causesIn(one.from - 100, one.to, 200).includes('frozen');
      const mustRespond = one.to < endingAt || (isFinished && one.isReused);
      if (mustRespond && one.leaves !== true && !isFrozen)
        yield { ...describe(one), isTrue: one.status !== undefined };
    }
  },
  *'the log has each response with its status'(world) {
    for (const life of world.lives) {
      const lines = linesOf(life);
      const byId = new Map(lines.map((line) => [line.requestId, line]));
      const isWhole =
        life.child.exitCode === 0 && lines.every(({ dropped }) => dropped === undefined);
      for (const one of world.sent) {
        const line = byId.get(one.requestId);
        if (one.life !== life || one.status === undefined || (line === undefined && !isWhole))
          continue;
        const isTrue = line?.status === one.status && line.error === one.json?.error;
        yield { ...describe(one, JSON.stringify(line)), isTrue };
      }
    }
  },
  *'a line of the log is true'(world) {
    for (const life of world.lives) {
      for (const line of linesOf(life)) {
        const what = JSON.stringify(line);
        if (/uncaught exception|health check failed|request failed|no JSON/.test(line.message))
          yield { isTrue: false, what, from: life.from, to: life.to };
        if (line.message === 'the tokens were reread')
          yield { isTrue: world.tokens.includes(line.tokens ?? 0), what };
        const causes = world.causesIn(life.from, life.to);
        if (line.reason !== undefined && line.level !== 'info')
          yield {
            isTrue: isCaused(line.reason, causes),
            what,
            from: life.from,
            to: life.to,
          };
      }
    }
  },
  *'the exit status and the last line say how the server ended'(world) {
    for (const life of world.lives) {
      const { exitCode, signalCode } = life.child;
      const what = `status ${exitCode}, ${signalCode}, ${life.ending}: ${tailOf(life)}`;
      const to = life.to;
      const time = { from: Math.min(life.endingAt, to - 1_000), to };
      const last = linesOf(life).findLast(({ message }) => message.startsWith('stopped'))?.message;
      if (life.ending === 'kill') continue;
      if (life.url === undefined) {
        const isTrue = exitCode === 1 && isCaused(tailOf(life), world.causesIn(life.from, to));
        yield { isTrue, what, from: life.from, to };
      } else if (life.ending === undefined) yield { isTrue: false, what, ...time };
      else if (exitCode === 0) yield { isTrue: last === 'stopped', what, ...time };
      else {
        const isCut = exitCode === 1 && last?.startsWith('stopped at once') === true;
        const hasCause = life.ending === 'stop-twice' || world.causesIn(time.from, to).length > 0;
        yield { isTrue: isCut && hasCause, what, ...time };
      }
    }
  },
  *'a stopped server leaves a WAL file with plants only if it says so'(world) {
    for (const life of world.lives) {
      const { ending, child, endingAt, to, walSize } = life;
      const others = world.causesIn(endingAt, to).filter((one) => one !== 'full' && one !== 'disk');
      if (ending !== 'stop' || child.exitCode !== 0 || others.length > 0) continue;
      const isSaid = linesOf(life).some(({ message }) => message.includes('still in the WAL'));
      const isLeft = walSize !== 0;
      yield { isTrue: isSaid === isLeft, what: `${isSaid}, ${walSize} bytes`, from: endingAt, to };
    }
  },
  *'a failing command says why'(world) {
    for (const { args, from, to, status, isKilled, stderr } of world.commands) {
      if (isKilled || status === 0) continue;
      const isKnown = status === 3 || (status === 1 && isCaused(stderr, world.causesIn(from, to)));
      yield { isTrue: isKnown, what: `${args.join(' ')}: ${status} ${stderr}`, from, to };
    }
  },
  *'the database is sound'(world) {
    for (const { name, from, to, disk } of world.readings)
      yield { isTrue: disk.damage === undefined, what: `${name}: ${disk.damage}`, from, to };
  },
  *'creates succeed again after the last fault'({ recovered, lives }) {
    const what = `${recovered?.status} ${lives.at(-1) && tailOf(lives.at(-1) as Life)}`;
    yield { isTrue: recovered?.status === 200, what, from: 0, to: Infinity };
  },
  *'each value of /metrics is true'(world) {
    const { metrics, life } = world;
    if (metrics === undefined || life === undefined) return;
    const lines = linesOf(life);
    const sum = (name: string, label = '') =>
      metrics
        .split('\n')
        .filter((line) => /^\w+/.exec(line)?.[0] === name && line.includes(label))
        .reduce((total, line) => total + Number(line.split(' ').at(-1)), 0);
    const times = { from: life.from, to: life.to };
    for (const name of ['plantstore_plants_waiting', 'plantstore_requests_in_flight'])
      yield { isTrue: sum(name) === 0, what: `${name} ${sum(name)}`, ...times };
    yield { isTrue: sum('plantstore_store_up') === 1, what: 'plantstore_store_up', ...times };
    for (const status of [200, 400, 503]) {
      const said = sum('plantstore_requests_total', `status="${status}"`);
      const logged = lines.filter((line) => line.requestId && line.status === status).length;
      yield { isTrue: said === logged, what: `${said} × ${status}, logged ${logged}`, ...times };
    }
    const size = sum('plantstore_sqlite_wal_bytes');
    yield { isTrue: size === world.walSize, what: `wal_bytes ${size}, ${world.walSize}`, ...times };
  },
  *'what an act compares is true'({ compared }) {
    yield* compared;
  },
};

/** Reasons that the program gives, and the causes of which one must have been there. */
const reasons: readonly (readonly [reason: RegExp, causes: string])[] = [
  [/does not exist; (correct|make)|was renamed|was removed/, 'moved'],
  [/took the place|leads to another file/, 'moved replaced'],
  [/tokens/, 'tokens'],
  [/no database server can be reached|ECONNREFUSED/, 'down proxy'],
  [/limit of connections|too many (clients|connections)/, 'limit'],
  [/refuses the role|password authentication|not permitted to log in/, 'login'],
  [/another session has locked/, 'lock slow proxy standby alter'],
  [/GRANT|permission denied/, 'privileges'],
  [/accepts writes|read-only transaction/, 'read-only'],
  [
    /Connection terminated|ECONNRESET|no response|does not respond/,
    'down proxy ended lock standby slow alter frozen',
  ],
  [/definition|has no table plants|altered the table|trigger or unique index/, 'alter'],
  [/input-output|reports an error/, 'disk full'],
  [/full|no space|ENOSPC/i, 'full'],
  [/is in use|locked/, 'lock second slow frozen command'],
  [/overwritten|shortened|is not the one that was opened/, 'moved replaced'],
  [/cannot be written|grant|read-only/, 'mode read-only disk'],
  [/damaged/, 'damage replaced disk'],
  [/EMFILE|too many open/, 'files'],
  [/timed out after|within \d+ ms/, 'slow lock frozen proxy down standby alter limit login ended'],
];

/** Whether a reason is true: one of its causes was there, or, for one that is not in the table, any. */
function isCaused(text: string, causes: readonly string[]): boolean {
  const [, expected] = reasons.find(([reason]) => reason.test(text)) ?? [];
  const found = causes.filter((one) => expected === undefined || expected.split(' ').includes(one));
  return found.length > 0;
}

function* createsOf({ sent }: World, status: number, error?: number): Iterable<Sent> {
  for (const one of sent) {
    if (one.id === undefined || one.status !== status) continue;
    if (error === undefined || one.json?.error === error) yield one;
  }
}

function finalRows({ readings }: World): ReadonlyMap<string, string> {
  return readings.at(-1)?.disk.rows ?? new Map<string, string>();
}

function describe({ requestId, id, text, from, to, status, json }: Sent, found = '') {
  const said = `${requestId}: ${id} ${text?.slice(0, 60)} → ${status} ${json?.error ?? ''}`;
  return { what: `${said} (${from.toFixed(0)}–${to.toFixed(0)}) ${found}`, from, to };
}

const parsed = new WeakMap<Life, readonly LogLine[]>();

/** The lines of the log of a server that has ended. */
function linesOf(life: Life): readonly LogLine[] {
  const lines = parsed.get(life) ?? life.log.split('\n').slice(0, -1).map(parse);
  parsed.set(life, lines);
  return lines;
}

function parse(line: string): LogLine {
  try {
    return JSON.parse(line) as LogLine;
  } catch {
    return { level: 'error', message: `no JSON: ${line}` };
  }
}

function tailOf(life: Life): string {
  return (life.log.slice(-600) + life.stderr).trim();
}
