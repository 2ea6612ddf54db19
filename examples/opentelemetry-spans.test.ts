import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';

const fileOf = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/** The built program with the example loaded before it, and what it has written so far. */
const startProgram = async () => {
  const program = fileOf('../packages/plantstore/dist/bin.js');
  const flags = ['--import', fileOf('opentelemetry-spans.ts'), program];
  const server = spawn(process.execPath, flags, {
    env: {
      PLANTSTORE_PORT: '0',
      PLANTSTORE_TOKENS: 'example',
      PLANTSTORE_DATABASE: 'memory:',
      PLANTSTORE_LOG: 'json',
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(async () => {
    server.kill();
    await once(server, 'close');
  });
  let written = '';
  server.stdout.setEncoding('utf8').on('data', (text: string) => (written += text));
  const until = async (text: string) => {
    while (!written.includes(text)) await once(server.stdout, 'data');
    return written;
  };
  await until('"url"');
  return { url: /http:[^"]+/.exec(written)?.[0] ?? '', until };
};

it('opentelemetry-spans.ts makes spans, which continue the trace of traceparent', async () => {
  const { url, until } = await startProgram();
  const send = async (headers: Readonly<Record<string, string>>) => {
    const response = await fetch(url, {
      method: 'POST',
      headers: { Authorization: 'Bearer example', 'Content-Type': 'application/json', ...headers },
      body: '{"id":1,"name":"Monstera"}',
    });
    await response.text();
  };
  const traceId = '0af7651916cd43dd8448eb211c80319c';
  await send({ traceparent: `00-${traceId}-b7ad6b7169203331-01`, 'X-Request-Id': 'first' });
  await until('"requestId":"first"');
  await until(`traceId: '${traceId}'`);
  await send({ 'X-Request-Id': 'second', 'Content-Type': 'text/plain' });
  const written = await until(`'second'`);
  expect(written).toMatch(/b7ad6b7169203331/);
  const [, one = '', two = ''] = written.split(/^ {2}traceId: /m);
  expect(one).toContain(traceId);
  expect(one).toContain("'http.response.status_code': 200");
  expect(one).toContain("'client.address': '127.0.0.1'");
  expect(two).not.toContain(traceId);
  expect(two).toContain("'http.response.status_code': 415");
  expect(two).toContain("'error.type': '2415'");
});
