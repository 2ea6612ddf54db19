/**
 * @module
 * @mergeModuleWith <project>
 */

export { acceptTokens } from './accept-tokens.ts';
export type { Authenticate, TokenDecision } from './authenticate.ts';
export { createHttpServer, type HttpServerOptions } from './create-http-server.ts';
export { createRequestListener, type RequestListenerOptions } from './create-request-listener.ts';
export type { Logger } from './logger.ts';
export type {
  RequestEndEvent,
  RequestErrorEvent,
  RequestInfo,
  RequestStartEvent,
} from './request-events.ts';
export type { ServiceOptions } from './service-options.ts';
export {
  type RenewedTls,
  type RunningServer,
  type ServerUsage,
  type StartedServer,
  startServer,
  type StartServerOptions,
} from './start-server.ts';
export type { TlsOptions } from './tls-options.ts';
