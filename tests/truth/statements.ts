import { type Probe, type Sent, tokenCounts } from './clients.ts';
import type { LogLine, Program, Time } from './program.ts';
import { type Reading, shutdownMs, type World } from './world.ts';

/** Compares what the program has reported in a run with the disk and with what was done. */
export function judge(world: World): void {
  const { sent, stored, servers, commands, probes, causes, readings } = world;
  // A line that is no JSON ends the run.
  for (const one of servers)
    one.lines = (one.log.match(/.+\n/g) ?? []).map((line) => JSON.parse(line) as LogLine);
  const lines = new Map(servers.flatMap((one) => one.lines.map((line) => [line.requestId, line])));
  for (const one of sent) one.line = lines.get(one.requestId);
  for (const one of probes) judgeProbe(world, one);
  // A busy machine may recover late: a cause is over once a create that was sent 2 s later has
  // succeeded.
  for (const cause of causes) {
    const isAfter = ({ from }: Sent) => from > cause.to + 2_000;
    cause.to = stored.find(isAfter)?.to ?? Infinity;
  }
  // A disk that becomes full after the check of its space can end a process with SIGBUS.
  for (const one of [...servers, ...commands])
    if (one.process.signalCode === 'SIGBUS' && /disk/.test(world.causesIn(one)))
      Object.assign(one, { ending: 'SIGKILL', endingAt: one.to - 1_000 });
  const sentById = Map.groupBy(sent, ({ id }) => id);
  for (const one of readings) judgeReading(world, one, sentById);
  for (const one of sent) judgeResponse(world, one, sentById);
  for (const one of servers) judgeLog(world, one);
  for (const one of [...servers, ...commands])
    world.compare('a program reports how it has ended', reportsItsEnd(world, one), one);
  judgeTokens(world);
  judgeMetrics(world);
}

type SentById = ReadonlyMap<string, readonly Sent[]>;

/** By how much the clocks of two processes differ, in milliseconds. */
const clockMs = 20;

function judgeReading(world: World, reading: Reading, sentById: SentById): void {
  const { name, rows, damage, from, to } = reading;
  world.compare('the database is sound', damage === undefined, reading);
  for (const one of world.stored) {
    if (one.to > from || one.from < world.lostAt) continue;
    const found = rows.get(one.id);
    world.compare('200: the plant is in each reading', found === one.text, { name, found, one });
  }
  for (const [id, text] of rows) {
    const isSent = sentById.get(id)?.some((one) => one.text === text && one.from <= to) === true;
    const isOfActs = /"another"|"rewritten"/.test(text);
    world.compare('each plant was sent', isSent || isOfActs, { name, from, to, id, text });
  }
}

function judgeResponse(world: World, one: Sent, sentById: SentById): void {
  const { id, text, status, body = '{}', line, server } = one;
  const { rows } = world.readings.at(-1) ?? { rows: new Map<string, string>() };
  const hasArrived = one.to < Math.min(server.endingAt, server.to) || (status === 0 && line);
  // Without a descriptor, a connection is closed as it is accepted.
  if (hasArrived && !one.leaves && !/limits/.test(world.causesIn(one)))
    world.compare('a request that has arrived has a response', status !== undefined, one);
  if (status === undefined) return;
  const { error } = JSON.parse(body) as { error?: number };
  world.compare('a response is 200, 400 or 503', [200, 400, 503].includes(status), one);
  if (line !== undefined || server.status === 0) {
    const isEqual = line?.status === status && line.error === error;
    world.compare('the log has each response with its status', isEqual, one);
  }
  if (status === 200) world.compare('200: the response is the plant', body === text, one);
  if (error === 1401 && one.from > world.lostAt) {
    const isTaken = rows.has(id) && rows.get(id) !== text;
    world.compare('1401: there is another plant with the id', isTaken, one);
  }
  if (status === 400) {
    const isSame = (other: Sent) => other.status !== 400 && other.text === text;
    const isStored = rows.get(id) === text && sentById.get(id)?.some(isSame) !== true;
    world.compare('400: the plant is not stored', !isStored, one);
  }
  const cause = line?.cause;
  if (status !== 503 || cause === undefined || isOfStop(one)) return;
  // The cause contains its time in milliseconds.
  const saidMs = isTimeout(cause) ? Number(/(\d+) ms/.exec(cause)?.[1]) : Infinity;
  const isTrue = isCaused(world, cause, one) || one.to - one.from >= saidMs - clockMs;
  world.compare('503: its cause is true', isTrue, one);
}

function judgeProbe(world: World, probe: Probe): void {
  const { live, ready, created } = probe;
  const causes = world.causesIn(probe);
  const isDuring = (from: number, to: number) => from < probe.to && to > probe.from;
  const isChanging = world.causes.some(
    ({ from, begun, to }) => isDuring(from, begun) || isDuring(to, to),
  );
  if (isOfStop(created) || isChanging) return;
  if (!/limits/.test(causes)) world.compare('/livez: the server is alive', live === 200, probe);
  // A create takes longer on a busy machine. With these causes, it takes too long.
  const mustBeLate = /lock|network|standby|read-only|role/.test(causes);
  const isSlow = isTimeout(created.line?.cause ?? '') && !mustBeLate;
  if (ready === 200 && !isSlow && !/chance/.test(causes))
    world.compare('/readyz 200: a create succeeds', created.status !== 503, probe);
  if (ready === 503 && causes === '')
    world.compare('/readyz 503: a create does not succeed', created.status !== 200, probe);
}

function judgeLog(world: World, server: Program): void {
  for (const { message, reason = message, level } of server.lines) {
    const what = { from: server.from, to: server.to, message, reason };
    const isFault = /uncaught exception|health check failed|request failed/.test(message);
    world.compare('the log reports no fault of the program', !isFault, what);
    const hasCause = message.endsWith('reread') || (reason !== message && level !== 'info');
    if (hasCause && !isTimeout(reason))
      world.compare('a reason of the log is true', isCaused(world, reason, server), what);
  }
}

/** Whether the status and the last line of a server, or the output of a command, are true. */
function reportsItsEnd(world: World, program: Program): boolean {
  const { url, ending, endingAt, to, status, lines, errors } = program;
  if (ending === 'SIGKILL') return true;
  if (url === undefined && status === 1) return isCaused(world, errors, program);
  const isCommand = world.commands.includes(program);
  if (url === undefined) return status === 3 || (status === 0 && (isCommand || ending !== ''));
  const last = lines.findLast(({ message }) => message.startsWith('stopped'))?.message;
  // Only an operator ends a server.
  if (status === 0) return last === 'stopped' && ending !== '';
  const isLate = ending === 'SIGTERM twice' || to - endingAt >= shutdownMs;
  return status === 1 && last?.startsWith('stopped at once') === true && isLate;
}

/** Compares the numbers of tokens that were reread with those that the file has had. */
function judgeTokens(world: World): void {
  const lines = world.servers.flatMap((server) => server.lines);
  const said = lines.map(({ tokens }) => tokens ?? '').join('');
  const counts = new RegExp(`^${tokenCounts(world).join('*')}*$`);
  world.compare('the tokens that were reread are those of the file', counts.test(said), { said });
}

/** Compares each value of the last `/metrics` with the log and the disk. */
function judgeMetrics(world: World): void {
  const { metrics, walSize, server } = world;
  const requests = (server?.lines ?? []).filter(({ requestId }) => requestId);
  const count = (isCounted: (line: LogLine) => boolean) => requests.filter(isCounted).length;
  const committed = count(({ status, error }) => status === 200 || error === 1401);
  // The program does not count plants that have waited for a lock.
  const least = server && /lock/.test(world.causesIn(server)) ? 0 : committed;
  // Requests without a response, for example, may have been committed, too.
  const unknown = count(({ status = 503, error }) => status === 503 || error === 4000);
  const expected: [name: string, least: number, most?: number][] = [
    ['sqlite_wal_bytes', walSize],
    ['request_duration_seconds_count', requests.length],
    ['commit_plants_sum', least, committed + unknown],
  ];
  const labelsOf = ({ status = 0, error = 0 }: LogLine) =>
    `{status="${status || 'none'}",error="${error || 'none'}"}`;
  for (const [labels, { length }] of Map.groupBy(requests, labelsOf))
    expected.push([`requests_total${labels}`, length]);
  const values = new Map(metrics.split('\n').map((line) => line.split(' ') as [string, string]));
  for (const [name, from, to = from] of expected) {
    const value = Number(values.get(`plantstore_${name}`) ?? 0);
    const what = { name, value, expected: [from, to] };
    world.compare('each value of /metrics is true', value >= from && value <= to, what);
  }
}

const isTimeout = (text: string) => /timed out after|within \d+ ms/.test(text);

/** Whether a request has ended after its server began to stop. */
const isOfStop = ({ to, server }: Sent) => to > server.endingAt;

/** Whether one of the causes of a reason was there, or any if the reason is not in the table. */
function isCaused(world: World, text: string, time: Time): boolean {
  const [line = ''] = text.split('\ncaused by');
  const [, expected = /./] = reasons.find(([reason]) => reason.test(line)) ?? [];
  return expected.test(world.causesIn(time));
}

/** Reasons that the program gives, and the causes of which one must have been there. */
const reasons: readonly (readonly [reason: RegExp, causes: RegExp])[] = [
  [/too many open files|EMFILE/, /limits|disk/],
  [/tokens/, /tokens/],
  [/certificate|tls/, /tls/],
  [/was (removed|overwritten)|is missing, empty|does not exist|ENOENT/, /moved|replaced/],
  [/disk-full|input-output|is full, has no|reports an error|locked, shared or synced/, /disk/],
  [/is in use/, /lock|command|disk/],
  [/cannot be (written to|opened|examined)|EACCES/, /mode|disk|limits|moved/],
  [/damaged/, /replaced|disk/],
  [/no database server can be reached|ECONNREFUSED/, /down|network/],
  [/password|does not permit this login|too many (clients|connections)/, /role/],
  [/another session has locked/, /lock|slow|network|standby|table/],
  [/lacks a privilege|permission denied/, /role|table/],
  [/accepts (no )?writes|read-only transaction/, /read-only/],
  [/No space left|53100/, /disk/],
  [/a pooler has opened/, /network/],
  [
    /terminat|ECONNRESET|no response|does not respond/,
    /down|network|session|lock|standby|slow|table/,
  ],
  [/has another plants|finds no table|leads to no table|violates|trigger/, /table/],
];
