import { setTimeout as sleep } from 'node:timers/promises';
import { sendRaw } from '@plantstore/test-support/raw-http';
import { expect, it } from 'vitest';
import { undeclaredHeaders } from './declared-headers.ts';
import { startProgram, token } from './program.ts';

const garden = 'https://garden.example';
const body = '{"id":7,"name":"Monstera"}';

const request = (method: string, fields: readonly string[], text = '') =>
  [`${method} /plants HTTP/1.1`, 'Host: a', `Origin: ${garden}`, ...fields, '', text].join('\r\n');

it('pages of --cors-origins can create plants, and the log has their request ids', async () => {
  const { port, stdout } = await startProgram({
    args: [
      '--database=memory:',
      `--cors-origins=http://localhost:5173, ${garden}`,
      '--cors-allowed-headers=traceparent, X-Gateway-Key',
    ],
  });
  const preflight = request('OPTIONS', [
    'Access-Control-Request-Method: POST',
    'Access-Control-Request-Headers: authorization,content-type',
  ]);
  expect(await sendRaw(port, preflight)).toMatchObject({
    status: 204,
    headers: {
      'access-control-allow-origin': garden,
      'access-control-allow-methods': 'POST',
      'access-control-allow-headers': 'authorization, content-type, traceparent, X-Gateway-Key',
    },
  });
  const post = request(
    'POST',
    [
      `Authorization: Bearer ${token}`,
      'Content-Type: application/json',
      `Content-Length: ${body.length}`,
      'X-Request-Id: from-the-garden',
    ],
    body,
  );
  const created = await sendRaw(port, post);
  expect(created).toMatchObject({
    status: 200,
    headers: { 'access-control-allow-origin': garden, 'x-request-id': 'from-the-garden' },
  });
  expect(undeclaredHeaders(created.status, created.headers)).toEqual([]);
  // The log arrives through another pipe than the response.
  while (stdout().split('\n').length < 4) await sleep(2);
  const lines = stdout().trim().split('\n').slice(1);
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { method: 'OPTIONS', path: '/plants', status: 204 },
    { method: 'POST', path: '/plants', status: 200, requestId: 'from-the-garden' },
  ]);
});
