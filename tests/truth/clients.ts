import { X509Certificate, randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { send } from '../black-box/https.ts';
import type { LogLine, Program, Time } from './program.ts';
import { textOf } from './store.ts';
import type { World } from './world.ts';

/** A plant that was sent or imported, its response if there was one, and its line in the log. */
export type Sent = {
  readonly requestId: string;
  readonly id: string;
  readonly text: string;
  readonly server: Program;
  /** Whether the client may disconnect. */
  readonly leaves: boolean;
  readonly from: number;
  to: number;
  status?: number;
  body?: string;
  line?: LogLine | undefined;
};

/** The status of `/livez`, that of `/readyz` or 0 if a create changed it, and the create. */
export type Probe = Time & Record<'live' | 'ready', number> & { readonly created: Sent };

const contested = ['0', '1', '2', '3', '-1', String(2n ** 53n + 1n), String(-(2n ** 63n))];
const names = ['', 'Aloë 🌵', 'e\u0301', 'a"b\\c\n', 'L'.repeat(300), 'L'.repeat(60_000)];

/** Creates plants, as four clients and one that probes, until the run is finished. */
export async function load(world: World): Promise<void> {
  const repeat = async (act: (world: World) => Promise<unknown>) => {
    while (world.isLoading) {
      await sleep(Math.random() * 300);
      if (world.server?.isUp) await act(world);
    }
  };
  await Promise.all([probe, createAny, createAny, createAny, createAny].map(repeat));
}

async function createAny(world: World): Promise<void> {
  const [kind, earlier] = [Math.random(), oneOf(world.sent)];
  const text = textOf(oneOf(names), oneOf([null, '', 'tag']));
  if (kind < 0.5) await create(world, freshId(), text);
  else if (kind < 0.6 && earlier) await create(world, earlier.id, earlier.text);
  else if (kind < 0.8) await create(world, oneOf(contested), textOf(oneOf(['one', 'two'])));
  else await create(world, freshId(), textOf('leaves'), oneOf([0, 1, 3, 6]));
}

async function probe(world: World): Promise<void> {
  const { server } = world;
  const from = performance.now();
  const [live, before] = [await get(world, '/livez'), await get(world, '/readyz')];
  if (server !== world.server || !server?.isUp) return;
  const created = await create(world, freshId(), textOf('probe'));
  const after = await get(world, '/readyz');
  const ready = before.status === after.status ? before.status : 0;
  world.probes.push({ from, to: performance.now(), live: live.status, ready, created });
}

/** Creates a plant; the client disconnects after a time. Resolves once the request has ended. */
export async function create(world: World, id: string, text: string, leavesAfterMs?: number) {
  const { server, sent, stored, agent } = world;
  if (server === undefined) throw new Error('no server was started');
  const signal = leavesAfterMs === undefined ? undefined : AbortSignal.timeout(leavesAfterMs);
  const requestId = `truth-${sent.length}`;
  const leaves = signal !== undefined;
  const one: Sent = { requestId, id, text, server, leaves, from: performance.now(), to: Infinity };
  sent.push(one);
  const { status, body } = await post(world, 1, lineOf(id, text), requestId, { agent, signal });
  Object.assign(one, { ...(status > 0 && { status, body }), to: performance.now() });
  if (status === 200) stored.push(one);
  return one;
}

/** Returns a plant as JSON. */
export const lineOf = (id: string, text: string): string => `{"id":${id},${text.slice(1)}`;

async function post(
  { server }: World,
  token: number,
  body: string,
  requestId: string,
  others: object,
) {
  const Authorization = `Bearer truth-token-${token}`;
  const headers = { Authorization, 'Content-Type': 'application/json', 'X-Request-Id': requestId };
  const options = { ...others, method: 'POST', headers, rejectUnauthorized: false };
  return send(server?.url ?? '', options, body).catch(() => noResponse);
}

export async function get({ server }: World, path: string) {
  return send(`${server?.health}${path}`, { agent: false }).catch(() => noResponse);
}

const noResponse = { status: 0, body: '', certificate: undefined };

/** Whether the server accepts just its tokens, and shows its certificate on a new connection. */
export async function usesFiles(world: World): Promise<boolean> {
  const count = Number(tokenCounts(world).at(-1));
  const ask = async (token: number) => post(world, token, '', '', { agent: false });
  const [{ status, certificate }, next] = [await ask(count), await ask(count + 1)];
  const { raw } = new X509Certificate(readFileSync(join(world.root, 'cert')));
  return status === 400 && next.status === 401 && certificate?.equals(raw) === true;
}

/** The numbers of tokens that the file has had. */
export const tokenCounts = ({ root }: World): readonly string[] =>
  readFileSync(join(root, 'counts'), 'utf8').trim().split('\n');

export const freshId = (): string => String(randomBytes(8).readBigInt64BE());

export const oneOf = <T>(list: readonly T[]): T =>
  list[Math.floor(Math.random() * list.length)] as T;
