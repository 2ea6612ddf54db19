/**
 * @module
 * @mergeModuleWith <project>
 */

export type { Result } from 'neverthrow';
export { type AcceptedToken, acceptTokens } from './node/accept-tokens.ts';
export { createHttpServer, type HttpServerOptions } from './node/create-http-server.ts';
export {
  createRequestListener,
  type RequestListenerOptions,
} from './node/create-request-listener.ts';
export { describeCause } from './http/describe-cause.ts';
export {
  type CannotListen,
  listenOn,
  type Listening,
  type ListenOptions,
} from './node/listen-on.ts';
export type { Logger } from './http/logger.ts';
export { pathOf } from './http/request-head.ts';
export {
  type Authenticate,
  type AuthenticatedRequest,
  type Limits,
  type OptionRule,
  optionRules,
  type ServiceOptions,
  type TokenDecision,
} from './http/options.ts';
export type {
  RequestEndEvent,
  RequestErrorEvent,
  RequestInfo,
  RequestStartEvent,
} from './http/request-record.ts';
export {
  type RunningServer,
  type ServerUsage,
  type StartedServer,
  startServer,
  type StartServerOptions,
} from './node/start-server.ts';
export { type TlsFault, tlsFaultOf, type TlsOptions } from './node/tls-options.ts';
