import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { shell, textOf } from './store.ts';
import { type Ending, lineOf, oneOf, type World } from './world.ts';

/** What an operator, another program, a disk or a network does. */
export type Act = ReturnType<typeof readAct>;

/** Begins an act. Resolves to what ends it, while other acts begin. */
export type Perform = (world: World, act: Act) => Promise<(() => Promise<unknown>) | void>;

/**
 * Reads a table of acts: weight, name, causes, way, begin, end, and what ends the server before the
 * last part. A list [a,b] in a row makes an act of each value, which $1 is in the rest of the row,
 * $2 that of the second list. The cause `alone` is none: no other act begins before its end.
 */
export function readActs(table: string) {
  return table
    .trim()
    .split(/\n(?! )/)
    .map((row) => ({
      weight: Number.parseInt(row, 10),
      acts: expand(row.replaceAll(/\s+/g, ' ')).map(readAct),
    }));
}

function readAct(row: string) {
  const cells = row.split(/ \|(?= |$)/).map((cell) => cell.trim());
  const [, name = '', causes = '', way = '', begin = '', end = '', ending = ''] = cells;
  return { name, causes: causes.split(' '), way, begin, end, ending: ending as Ending };
}

function expand(row: string, index = 1): readonly string[] {
  const [list = '', values] = /\[([^\]]*,[^\]]*)\]/.exec(row) ?? [];
  if (values === undefined) return [row];
  return values
    .split(',')
    .flatMap((one) => expand(row.replace(list, one).replaceAll(`$${index}`, one), index + 1));
}

/** Acts on a server of either store. */
export const acts = readActs(`
10 | [SIGKILL,SIGKILL,SIGTERM,SIGINT,SIGTERM twice] | none | sh | : | | $1
2 | suspend the server | slow | sh | kill -STOP $PID; : | kill -CONT $PID; :
2 | limit [nofile=25,nofile=40,fsize=0,fsize=99999] | limits disk | sh
  | prlimit --pid=$PID --$1: ; : | prlimit --pid=$PID --nofile=1024: --fsize=unlimited: ; :
2 | renew the tokens | none | sh | eval "$RENEW_TOKENS"
2 | [: >,rm -f] tokens | tokens | sh | $1 $ROOT/tokens | eval "$RENEW_TOKENS"
2 | renew the certificate | tls | sh | eval "$RENEW_TLS"
2 | [truncate -s 99,rm -f] [key,cert] | tls | sh | $1 $ROOT/$2 | eval "$RENEW_TLS"
4 | [export,check,check-settings] | command | $1
3 | import [5,300,6000] plants [completely,killed] [beside a server,alone] | command | import
  | $1,$2,$3
`);

/** How acts of either store are performed. */
export const ways: Readonly<Record<string, Perform>> = {
  /** Shell commands, and others that end them. */
  async sh(world, { begin, end, ending }) {
    const { variables } = world;
    const run = async (commands: string, isLast: boolean) => {
      if (isLast) await world.end(ending);
      await shell(commands, variables);
    };
    await run(begin, end === '');
    return end === '' ? undefined : async () => run(end, true);
  },

  /** Shell commands that other acts do not wait for. */
  async meanwhile({ variables }, { begin }) {
    const ended = shell(begin, variables);
    return async () => ended;
  },

  export: async (world) => world.export(),
  check: async (world) => void (await world.command(['check'])),
  async 'check-settings'(world) {
    await world.end('SIGTERM');
    await world.command([...world.serverArgs, '--check-settings']);
  },

  /** Imports new, known and invalid plants, and compares what the command says with the disk. */
  async import(world, { begin }) {
    const [length, killed, beside] = begin.split(',');
    const isAlone = beside === 'alone';
    if (isAlone) await world.end('SIGTERM');
    const before = isAlone ? (await world.store.read()).rows : new Map<string, string>();
    const known = [...before.keys()].slice(0, 400);
    const plants = Array.from({ length: Number(length) }, (_, index) => {
      const id = oneOf([undefined, '1.5', oneOf(known)]) ?? world.freshId();
      const text = (index % 2 === 0 ? before.get(id) : undefined) ?? textOf(`imported ${index}`);
      world.written.add(id + text);
      return { id, text };
    });
    const file = join(world.root, 'plants.ndjson');
    writeFileSync(file, plants.map(({ id, text }) => `${lineOf(id, text)}\n`).join(''));
    const command = await world.command(['import', file], killed === 'killed' ? 250 : 0);
    const { rows: after } = await world.store.read();
    const stored = plants.filter(({ id, text }) => after.get(id) === text);
    const created = stored.filter(({ id }) => !before.has(id)).length;
    const counts = [created, stored.length - created, plants.length - stored.length];
    const { log: output, errors, status } = command;
    const said = /^(\d+) plants? created.*?, (\d+) already there, (\d+) refused/m.exec(output);
    const what = `${output}, not ${counts.join()}, status ${status}, ${errors.slice(-200)}`;
    const isComplete = status === 0 || status === 3;
    const isExact = said?.slice(1).join() === counts.join();
    world.compare('an import counts the plants on the disk', isExact || !isComplete, what);
    const named = errors.match(/^(plantstore: )?line/gm)?.length ?? 0;
    const isNamed = named === counts[2] && (status === 3) === named > 0;
    world.compare('an import names each refused line', isNamed || !isComplete, what);
    const isStored = Number(said?.[1] ?? 0) <= created;
    world.compare('an import counts no plant that is not stored', isStored || !isAlone, what);
  },
};
