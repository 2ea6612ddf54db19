import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { freshId, lineOf, oneOf } from './clients.ts';
import { shell, textOf } from './store.ts';
import { serverArgs, type World } from './world.ts';

/** What an operator, another program, a disk or a network does. */
export type Act = ReturnType<typeof readAct>;

/** Begins an act. Resolves to what ends it, while other acts begin. */
export type Perform = (world: World, act: Act) => Promise<(() => Promise<unknown>) | void>;

/**
 * Reads a table of acts: name, causes, way, begin, end, and what ends the server before the last
 * part. A list [a,b] in a row makes an act of each value, which $1 is in the rest of the row, $2
 * that of the second list. With the cause `alone`, no other act begins before its end.
 */
export const readActs = (table: string): Act[][] =>
  table
    .trim()
    .split(/\n(?! )/)
    .map((row) => expand(row.replaceAll(/\s+/g, ' ')).map(readAct));

function readAct(row: string) {
  const cells = row.split(/ \|(?= |$)/).map((cell) => cell.trim());
  const [name = '', causes = '', way = '', begin = '', end = '', ending = ''] = cells;
  return { name, causes: causes.split(' ').filter(Boolean), way, begin, end, ending };
}

function expand(row: string, index = 1): readonly string[] {
  const [list = '', values] = /\[([^\]]*,[^\]]*)\]/.exec(row) ?? [];
  if (values === undefined) return [row];
  return values
    .split(/, ?/)
    .flatMap((one) => expand(row.replace(list, one).replaceAll(`$${index}`, one), index + 1));
}

/** Acts on a server of either store. */
export const acts = readActs(`
[SIGKILL,SIGTERM] | | sh | : | | $1
[SIGKILL,SIGINT,SIGTERM twice] | | sh | : | | $1
suspend the server | slow | sh | kill -STOP $PID; : | kill -CONT $PID; :
limit [nofile=25,nofile=40,fsize=0,fsize=99999] | limits disk | sh
  | prlimit --pid=$PID --$1: ; : | prlimit --pid=$PID --nofile=1024: --fsize=unlimited: ; :
renew the tokens | tokens | sh | eval "$RENEW_TOKENS"
[: >,rm -f] tokens | tokens | sh | $1 $ROOT/tokens | eval "$RENEW_TOKENS"
renew the certificate | tls | sh | eval "$RENEW_TLS"
[truncate -s 99,rm -f] [key,cert] | tls | sh | $1 $ROOT/$2 | eval "$RENEW_TLS"
[export,check,check-settings] | command | $1
import [2,100,2000] plants [completely,killed] [beside a server,alone] | command | import
  | $1,$2,$3
`);

/**
 * Runs commands to begin an act, and others to end it. Without those, the act ends with its first
 * commands, while other acts begin.
 */
export const performWith =
  (run: (commands: string, variables: object) => Promise<unknown>): Perform =>
  async (world, { begin, end, ending }) => {
    if (end === '') await world.server?.end(ending);
    const begun = run(begin, world.variables);
    // It is awaited later.
    begun.catch(() => {});
    if (end === '') return async () => begun;
    await begun;
    return async () => {
      await world.server?.end(ending);
      await run(end, world.variables);
    };
  };

/** How acts of either store are performed. */
export const ways: Readonly<Record<string, Perform>> = {
  sh: performWith(shell),
  export: async (world) => world.export(),
  check: async (world) => void (await world.command(['check'])),
  async 'check-settings'(world, { causes }) {
    await world.server?.end('SIGTERM');
    const { from, status } = await world.command([...serverArgs, '--check-settings']);
    const { url } = await world.start();
    const what = { from, to: performance.now(), status, url };
    // Nothing else may have changed what a start finds.
    const isTrue = (status === 0) === (url !== undefined) || !world.isOnlyCause(causes, what);
    world.compare('a start succeeds if its settings are right', isTrue, what);
  },

  /** Imports as many new plants as known ones and refused ones. */
  async import(world, { begin }) {
    const [length, killed, beside] = begin.split(',');
    if (beside === 'alone') await world.server?.end('SIGTERM');
    const known = world.stored.filter((one) => one.from > world.lostAt && one.text.length < 99);
    if (known.length === 0) return;
    const text = textOf('imported');
    const created = Array.from({ length: Number(length) }, () => ({ id: freshId(), text }));
    const existing = created.map(() => oneOf(known));
    const refused = existing.map(({ id }) => ({ id: oneOf([id, '1.5']), text: textOf('no') }));
    const lines = [...created, ...existing, ...refused].map((one) => lineOf(one.id, one.text));
    const file = join(world.root, 'plants.ndjson');
    writeFileSync(file, lines.toSorted(() => Math.random() - 0.5).join('\n'));
    const server = await world.command(['import', file], killed === 'killed' ? 250 : 0);
    const { from, to, log, errors, status } = server;
    const sent = created.map((one) => ({ ...one, requestId: '', server, leaves: true, from, to }));
    world.sent.push(...sent);
    // A trigger refuses plants, too.
    if ((status !== 0 && status !== 3) || /table/.test(world.causesIn(server))) return;
    world.stored.push(...sent);
    const said = log.match(/\d+(?= plants? created| already there| refused)/g) ?? [];
    const named = errors.match(/^(plantstore: )?line/gm)?.length;
    const isTrue = [...said, named, status].join() === [length, length, length, length, 3].join();
    world.compare('an import counts its lines, and names each refused one', isTrue, server);
  },
};
