import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { request } from 'node:http';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { token } from '../token.ts';

/** What a start cost. */
export type Start = {
  /** From the command to the whole first answer. */
  readonly firstAnswerMs: number;
  /** A second later, with nothing to do. */
  readonly residentBytes: number;
};

const post = async (url: string): Promise<void> => {
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
  const sent = request(url, { method: 'POST', headers, agent: false });
  sent.end('{"id":1,"name":"Monstera","tag":"climber"}');
  const [response] = (await once(sent, 'response')) as [import('node:http').IncomingMessage];
  if (response.statusCode !== 200) throw new Error(`the first answer was ${response.statusCode}`);
  await once(response.resume(), 'end');
};

const residentBytesOf = (pid: number): number =>
  1_024 * Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }));

/** Starts a program of Node that says in its first line, as JSON, the `url` to post to. */
export const startOnce = async (args: readonly string[], folder: string): Promise<Start> => {
  const began = performance.now();
  const child = spawn(process.execPath, args, {
    cwd: folder,
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  try {
    const lines = createInterface(child.stdout);
    const [line] = (await Promise.race([once(lines, 'line'), exited])) as [string];
    // What it logs from now on is nobody's business, but must not fill the pipe.
    lines.on('line', () => {});
    const { url } = JSON.parse(line) as { url: string };
    await post(url);
    const firstAnswerMs = performance.now() - began;
    await sleep(1_000);
    return { firstAnswerMs, residentBytes: residentBytesOf(child.pid ?? 0) };
  } finally {
    child.kill();
    await exited;
  }
};
