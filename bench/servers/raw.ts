// What the load generator reaches: a socket that answers a constant to whatever comes, with no HTTP at all.
import { createServer } from 'node:net';

const body = '{"name":"Monstera","tag":"climber"}';
const answer = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

createServer({ noDelay: true }, (socket) => {
  // A request is short enough to come at once.
  socket.on('data', () => socket.write(answer)).on('error', () => socket.destroy());
}).listen(Number(process.env['PORT']), '127.0.0.1');
