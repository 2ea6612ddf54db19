// What every client of a comparison calls: a server that costs little and always answers the same plant.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

const answer = Buffer.from('{"name":"Monstera","tag":"climber"}');

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, {
      'Content-Type': 'application/json',
      'Content-Length': answer.byteLength,
    });
    response.end(answer);
  });
});
// Longer than the benchmark, so that no connection ends in the middle of it.
server.keepAliveTimeout = 600_000;

process.on('message', () => {
  server.listen(0, '127.0.0.1', () => {
    const { port } = server.address() as AddressInfo;
    process.send?.(`http://127.0.0.1:${port}`);
  });
});
