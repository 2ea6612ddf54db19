// The baseline: a server without a store, authentication or validation. It reads the body, parses it, and sends a constant.
import { createServer } from 'node:http';

const json = '{"name":"Monstera","tag":"climber"}';
const headers = { 'Content-Type': 'application/json', 'Content-Length': json.length };

createServer((request, response) => {
  let body = '';
  request.setEncoding('utf8').on('data', (text) => {
    body += text;
  });
  request.on('end', () => {
    JSON.parse(body);
    response.writeHead(200, headers).end(json);
  });
}).listen(Number(process.env.PORT), '127.0.0.1');
