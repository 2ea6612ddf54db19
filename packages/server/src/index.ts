/**
 * @module
 * @mergeModuleWith <project>
 */

export { type AcceptedToken, acceptTokens } from './node/accept-tokens.ts';
export type { Authenticate, TokenDecision } from './http/authenticate.ts';
export { createHttpServer, type HttpServerOptions } from './node/create-http-server.ts';
export { createRequestListener } from './node/create-request-listener.ts';
export { describeCause } from './http/describe-cause.ts';
export type { Logger } from './http/logger.ts';
export { optionRules } from './node/option-rules.ts';
export type { OptionRule } from './http/option-rules.ts';
export type { RequestListenerOptions } from './node/request-handler.ts';
export type {
  RequestEndEvent,
  RequestErrorEvent,
  RequestInfo,
  RequestStartEvent,
} from './http/request-events.ts';
export type { ServiceOptions } from './http/service-options.ts';
export {
  type RenewedTls,
  type RunningServer,
  type ServerUsage,
  type StartedServer,
  startServer,
  type StartServerOptions,
} from './node/start-server.ts';
export { type TlsFault, tlsFaultOf, type TlsOptions } from './node/tls-options.ts';
