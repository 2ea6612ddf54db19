// The least that can answer: it says where it listens, and answers a constant.
import { createServer } from 'node:http';

const server = createServer((request, response) => {
  request.resume().on('end', () => {
    response.writeHead(200, { 'Content-Type': 'application/json' });
    response.end('{"name":"Monstera","tag":"climber"}');
  });
});
server.listen(0, '127.0.0.1', () => {
  process.stdout.write(
    `${JSON.stringify({ url: `http://127.0.0.1:${server.address().port}/plants` })}\n`,
  );
});
