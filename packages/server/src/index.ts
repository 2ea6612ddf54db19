export { acceptTokens } from './host/accept-tokens.ts';
export {
  type RenewedTls,
  type RunningServer,
  type StartedServer,
  startServer,
  type StartServerOptions,
} from './host/start-server.ts';
export type { Authenticate } from './http/admit.ts';
export { createFetch, type InProcessFetch } from './http/create-fetch.ts';
export type { ServiceOptions } from './http/service.ts';
export { createHttpServer, type HttpServerOptions } from './node/http-server.ts';
export type { Logger } from './logger.ts';
export type {
  RequestEndEvent,
  RequestErrorEvent,
  RequestInfo,
  RequestStartEvent,
} from './node/request-events.ts';
export { createRequestListener, type RequestListenerOptions } from './node/request-listener.ts';
export type { TlsOptions } from './node/tls.ts';
