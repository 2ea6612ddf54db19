// The baseline: a server without a store, authentication or validation. It reads the body, parses it, and sends a constant.
import { createServer } from 'node:http';

const responseBody = '{"name":"Monstera","tag":"climber"}';

const server = createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text) => {
    body += text;
  });
  request.on('end', () => {
    JSON.parse(body);
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Content-Length': Buffer.byteLength(responseBody),
    });
    response.end(responseBody);
  });
});
// Longer than any part of the benchmark, so that no connection is closed during it.
server.keepAliveTimeout = 600_000;
server.listen(Number(process.env.PORT), '127.0.0.1');
