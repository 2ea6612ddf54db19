// Serves three pipelined requests in one packet, of the tokens 1, 2 and 3, and calls `note` for each call of the app.
import { once } from 'node:events';
import { connect } from 'node:net';
import { createHttpServer } from '@plantstore/server';
import { okAsync } from 'neverthrow';

export async function servePipelined(note, fieldsOf = () => []) {
  const ended = Promise.withResolvers();
  let requests = 0;
  const log = ({ requestId }) => {
    note('log line', requestId);
    if ((requests += 1) === 3) ended.resolve();
  };
  const server = createHttpServer({
    async authenticate(token) {
      note('authenticate', token);
      return true;
    },
    repository: {
      create({ id }) {
        note('repository', String(id));
        return okAsync();
      },
    },
    logger: { info: log, warn: log, error: log },
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const socket = connect(server.address().port, '127.0.0.1');
  socket.write(['1', '2', '3'].map((id) => requestOf(id, fieldsOf(id))).join(''));
  await ended.promise;
  socket.destroy();
  server.close();
}

function requestOf(id, more) {
  const body = `{"id":${id},"name":"Monstera"}`;
  const fields = [
    'Host: a',
    `Authorization: Bearer ${id}`,
    `X-Request-Id: ${id}`,
    'Content-Type: application/json',
    `Content-Length: ${body.length}`,
    ...more,
  ];
  return ['POST /plants HTTP/1.1', ...fields, '', body].join('\r\n');
}
