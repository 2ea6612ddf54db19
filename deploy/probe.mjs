// The HEALTHCHECK of the image. It exits with 0 if the server is ready, or has no health port.
import { Agent, get } from 'node:http';

const { PLANTSTORE_HOST: host = '', PLANTSTORE_HEALTH_PORT: port = '' } = process.env;
if (['', 'off', 'false'].includes(port)) process.exit(0);

const probe = get({
  host: ['', '::', '0.0.0.0'].includes(host) ? '127.0.0.1' : host,
  port,
  path: '/readyz',
  signal: AbortSignal.timeout(2_500),
  // With NODE_USE_ENV_PROXY, the global agent sends the request to a proxy.
  agent: new Agent(),
});
probe.on('response', ({ statusCode }) => process.exit(statusCode === 200 ? 0 : 1));
probe.on('error', () => process.exit(1));
