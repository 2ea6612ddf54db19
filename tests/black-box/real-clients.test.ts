import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type Cleanup,
  newFolder,
  post,
  type RunningProgram,
  startProgram,
  token,
} from './program.ts';

const run = promisify(execFile);
const size = 20_000_000;

let server: RunningProgram;
let stop: Parameters<Cleanup>[0] = async () => {};
beforeAll(async () => {
  server = await startProgram({}, (task) => {
    stop = task;
  });
});
afterAll(async () => stop());

const pythonPost = `
import http.client, json, sys
port, token, size, chunked = sys.argv[1:]
body = b' ' * int(size)
connection = http.client.HTTPConnection('127.0.0.1', int(port), timeout=120)
headers = {'Authorization': 'Bearer ' + token, 'Content-Type': 'application/json'}
pieces = (body[i:i + 65536] for i in range(0, len(body), 65536))
connection.request('POST', '/plants', pieces if chunked == 'chunked' else body, headers)
response = connection.getresponse()
print(json.loads(response.read())['error'], response.status)
`;

it.for([
  ['curl, with Expect', ['curl']],
  ['curl, declared', ['curl', '--header', 'Expect:']],
  ['curl, chunked', ['curl', '--header', 'Expect:', '--header', 'Transfer-Encoding: chunked']],
  ["Python's http.client, declared", ['python3', 'declared']],
  ["Python's http.client, chunked", ['python3', 'chunked']],
] as const)(
  'a client can read the 413 to a body of 20 MB, and then create a plant: %s',
  async ([, [program, ...args]], { skip }) => {
    await run(program, ['--version']).catch(() => skip(`this machine has no ${program}`));
    const file = join(await newFolder(), 'large.json');
    await writeFile(file, Buffer.alloc(size, ' '));
    const headers = [`Authorization: Bearer ${token}`, 'Content-Type: application/json'];
    const fields = headers.flatMap((field) => ['--header', field]);
    const options = ['--silent', '--show-error', '--write-out', ' %{http_code}', ...fields];
    const { stdout } =
      program === 'curl'
        ? await run(program, [...options, ...args, '--data-binary', `@${file}`, server.url])
        : await run(program, ['-c', pythonPost, `${server.port}`, token, `${size}`, ...args]);
    expect(stdout).toMatch(/2413.* 413\s*$/);
    expect(await post(server.url, '{"id":1,"name":"Monstera"}')).toMatchObject({ status: 200 });
    expect(server.stdout() + server.stderr()).not.toMatch(/"level":"(?:warn|error)"/);
  },
);

it.each(['declared', 'chunked'])('fetch can read the 413 to a body of 20 MB: %s', async (how) => {
  const blob = new Blob([Buffer.alloc(size, ' ')]);
  const response = await fetch(server.url, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: how === 'declared' ? blob : blob.stream(),
    duplex: 'half',
  });
  expect([response.status, await response.json()]).toMatchObject([413, { error: 2413 }]);
});
