import { subscribe } from 'node:diagnostics_channel';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import {
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  trace,
} from '@opentelemetry/api';
import {
  ConsoleSpanExporter,
  NodeTracerProvider,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import type {
  RequestEndEvent,
  RequestErrorEvent,
  RequestInfo,
  RequestStartEvent,
} from '@plantstore/server';

// In production: a BatchSpanProcessor with the exporter of @opentelemetry/exporter-trace-otlp-http.
const processor = new SimpleSpanProcessor(new ConsoleSpanExporter());
new NodeTracerProvider({ spanProcessors: [processor] }).register();
const tracer = trace.getTracer('plantstore');
const spans = new WeakMap<RequestInfo, Span>();

// The server's events have no headers; Node publishes the request in the same turn, just before.
let headers: IncomingHttpHeaders = {};
subscribe('http.server.request.start', (event) => {
  ({ headers } = (event as { readonly request: IncomingMessage }).request);
  queueMicrotask(() => (headers = {}));
});

subscribe('plantstore:request:start', (event) => {
  const { request } = event as RequestStartEvent;
  const { method = 'HTTP', path, client, requestId } = request;
  const attributes = {
    'http.request.method': method,
    'http.request.header.x-request-id': requestId,
    ...(path !== undefined && { 'url.path': path }),
    ...(client !== undefined && { 'client.address': client }),
  };
  // Reads `traceparent` and `tracestate`.
  const parent = propagation.extract(ROOT_CONTEXT, headers);
  const span = tracer.startSpan(method, { kind: SpanKind.SERVER, attributes }, parent);
  spans.set(request, span);
});

subscribe('plantstore:request:error', (event) => {
  const { request, cause } = event as RequestErrorEvent;
  const span = spans.get(request);
  span?.recordException(cause);
  span?.setStatus({ code: SpanStatusCode.ERROR });
});

subscribe('plantstore:request:end', (event) => {
  const { request, status, error } = event as RequestEndEvent;
  const span = spans.get(request);
  if (status !== undefined) span?.setAttribute('http.response.status_code', status);
  if (error !== undefined) span?.setAttribute('error.type', String(error));
  span?.end();
});
