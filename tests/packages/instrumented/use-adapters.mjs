// Creates a plant through each adapter that simulates a request, and prints the response and the line of the log.
import { EventEmitter, once } from 'node:events';
import codegenie from '@codegenie/serverless-express';
import awsLambda from '@fastify/aws-lambda';
import { createMemoryRepository } from '@plantstore/core';
import { createRequestListener } from '@plantstore/server';
import fastify from 'fastify';
import inject from 'light-my-request';
import mocks from 'node-mocks-http';
import serverless from 'serverless-http';

const body = '{"id":7,"name":"Monstera"}';
const headers = {
  host: 'a',
  authorization: 'Bearer good',
  'content-type': 'application/json',
  'content-length': String(body.length),
};
const http = { method: 'POST', path: '/plants', sourceIp: '192.0.2.1', protocol: 'HTTP/1.1' };
const requestContext = { http, domainName: 'a', stage: '$default' };
const event = { version: '2.0', routeKey: '$default', rawPath: '/plants', rawQueryString: '' };
const lambdaEvent = { ...event, headers, requestContext, isBase64Encoded: false, body };
const request = { method: 'POST', url: '/plants', headers, payload: body };

await use('serverless-http', async (listener) => serverless(listener)(lambdaEvent, {}));
await use('@codegenie/serverless-express', async (app) => codegenie({ app })(lambdaEvent, {}));
await use('fastify', async (listener) => appOf(listener).inject(request));
await use('@fastify/aws-lambda', async (listener) => awsLambda(appOf(listener))(lambdaEvent, {}));
await use('light-my-request', async (listener) => inject(listener, request));
await use('node-mocks-http', async (listener) => {
  const incoming = mocks.createRequest(request);
  const response = mocks.createResponse({ eventEmitter: EventEmitter });
  const ended = once(response, 'end');
  listener(incoming, response);
  incoming.send(body);
  await ended;
  const { statusCode, _getHeaders, _getData } = response;
  return { statusCode, headers: _getHeaders(), body: _getData() };
});

async function use(name, send) {
  const { promise: logged, resolve } = Promise.withResolvers();
  const log = ({ status }, message) => resolve(`${message} ${status}`);
  const listener = createRequestListener({
    repository: createMemoryRepository(),
    authenticate: (token) => token === 'good',
    logger: { info: log, warn: log, error: log },
  });
  const response = await send(listener);
  const names = Object.keys(response.headers).filter((header) =>
    /^(?:content-type|0)$/.test(header),
  );
  console.log(`${name}: ${response.statusCode} ${response.body} ${names.join()} ${await logged}`);
}

function appOf(listener) {
  const app = fastify();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('*', (_, payload, done) => done(null));
  app.post('/plants', ({ raw }, reply) => {
    reply.hijack();
    listener(raw, reply.raw);
  });
  return app;
}
