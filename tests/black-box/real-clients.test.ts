import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runsAll } from '@plantstore/test-support/sample';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newFolder, post, type RunningProgram, startProgram, token } from './program.ts';

const run = promisify(execFile);

/** Returns whether a program is installed. */
const isInstalled = async (program: string): Promise<boolean> =>
  run(program, ['--version']).then(
    () => true,
    () => false,
  );

const size = 20_000_000;
const times = Array.from({ length: runsAll ? 10 : 1 });

type Result = { readonly status: number; readonly error: number };

const tooLarge: Result = { status: 413, error: 2413 };

const errorOf = (body: string): number => (JSON.parse(body) as { error: number }).error;

let server: RunningProgram | undefined;
let file = '';
const cleanups: (() => Promise<void>)[] = [];
beforeAll(async () => {
  const cleanup = (task: () => Promise<void>) => void cleanups.push(task);
  server = await startProgram({ args: ['--database', 'memory:'] }, cleanup);
  file = join(await newFolder(cleanup), 'large.json');
  await writeFile(file, Buffer.alloc(size, ' '));
});
afterAll(async () => {
  for (const task of cleanups.toReversed()) await task();
});
const url = () => server?.url ?? '';

const curl = async (...args: readonly string[]): Promise<Result> => {
  const { stdout } = await run('curl', [
    '--silent',
    '--show-error',
    '--max-time',
    '30',
    '--write-out',
    '\n%{http_code}',
    '--header',
    `Authorization: Bearer ${token}`,
    '--header',
    'Content-Type: application/json',
    ...args,
    '--data-binary',
    `@${file}`,
    url(),
  ]);
  const [body = '', status] = stdout.split('\n');
  return { status: Number(status), error: errorOf(body) };
};

const pythonPost = `
import http.client, json, sys
port, token, size, chunked, times = sys.argv[1:]
body = b' ' * int(size)
results = []
for _ in range(int(times)):
    connection = http.client.HTTPConnection('127.0.0.1', int(port), timeout=120)
    headers = {'Authorization': 'Bearer ' + token, 'Content-Type': 'application/json'}
    pieces = (body[i:i + 65536] for i in range(0, len(body), 65536))
    connection.request('POST', '/plants', pieces if chunked == 'chunked' else body, headers)
    response = connection.getresponse()
    results.append({'status': response.status, 'error': json.loads(response.read())['error']})
    connection.close()
print(json.dumps(results))
`;

const fetchResult = async (body: Uint8Array<ArrayBuffer> | ReadableStream): Promise<Result> => {
  const response = await fetch(url(), {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body,
    ...(body instanceof ReadableStream && { duplex: 'half' as const }),
  });
  return { status: response.status, error: errorOf(await response.text()) };
};

const inPieces = (): ReadableStream => {
  let left = size;
  return new ReadableStream({
    pull(controller) {
      controller.enqueue(new Uint8Array(Math.min(left, 65_536)).fill(0x20));
      left -= 65_536;
      if (left <= 0) controller.close();
    },
  });
};

describe('413 for a body of 20 MB', () => {
  it.for([
    ['with Expect', []],
    ['declared', ['--header', 'Expect:']],
    ['chunked', ['--header', 'Expect:', '--header', 'Transfer-Encoding: chunked']],
    ['chunked, with Expect', ['--header', 'Transfer-Encoding: chunked']],
    ['with HTTP/1.0', ['--http1.0']],
  ] as const)(
    'curl can read the 413 to a body of 20 MB each time: %s',
    async ([, args], { skip }) => {
      if (!(await isInstalled('curl'))) skip('curl is not installed');
      for (const _ of times) expect(await curl(...args)).toEqual(tooLarge);
    },
  );

  it.for(['declared', 'chunked'])(
    "Python's http.client can read the 413 to a body of 20 MB each time: %s",
    async (how, { skip }) => {
      if (!(await isInstalled('python3'))) skip('python3 is not installed');
      const args = [String(server?.port), token, String(size), how, String(times.length)];
      const { stdout } = await run('python3', ['-c', pythonPost, ...args]);
      expect(JSON.parse(stdout)).toEqual(times.map(() => tooLarge));
    },
  );

  it('fetch can read the 413 to a declared body of 20 MB each time', async () => {
    for (const _ of times) expect(await fetchResult(new Uint8Array(size))).toEqual(tooLarge);
  });

  it('fetch can read the 413 to a chunked body of 20 MB each time', async () => {
    for (const _ of times) expect(await fetchResult(inPieces())).toEqual(tooLarge);
  });

  it('a plant is created after bodies of 20 MB, and the log has no error', async () => {
    expect(await post(url(), '{"id":1,"name":"Monstera"}')).toMatchObject({ status: 200 });
    expect(server?.stdout()).not.toMatch(/"level":"(?:warn|error)"/);
    expect(server?.stderr()).toBe('');
  });
});
