// The HEALTHCHECK of the image. It exits with 0 if the server is ready, or has no health port.
import { Agent, get } from 'node:http';

const { PLANTSTORE_HOST: host = '', PLANTSTORE_HEALTH_PORT: port = '' } = process.env;
if (['', 'off', 'false'].includes(port)) process.exit(0);
if (Number(port) === 0)
  fail('PLANTSTORE_HEALTH_PORT=0 is any free port, which this check cannot know: set another one');

const probe = get({
  host: ['', '::', '0.0.0.0'].includes(host) ? '127.0.0.1' : host,
  port,
  path: '/readyz',
  signal: AbortSignal.timeout(2_500),
  // With NODE_USE_ENV_PROXY, the global agent sends the request to a proxy.
  agent: new Agent(),
});
probe.on('response', ({ statusCode }) => {
  if (statusCode === 200) process.exit(0);
  fail(`/readyz: ${statusCode}`);
});
probe.on('error', ({ message }) => fail(message));

function fail(reason) {
  console.error(reason);
  process.exit(1);
}
