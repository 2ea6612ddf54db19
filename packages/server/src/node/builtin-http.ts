import type { Server } from 'node:http';
import type { Server as TlsServer } from 'node:https';

/** Loads node:http, for a server only, because a program may import this package for its rules. */
export function loadHttp(): typeof import('node:http') {
  return process.getBuiltinModule('node:http');
}

/** Loads node:https, for TLS only, because a start without TLS would take longer. */
export function loadHttps(): typeof import('node:https') {
  return process.getBuiltinModule('node:https');
}

/** Returns whether a server serves HTTPS. */
export function isTlsServer(server: Server): server is TlsServer {
  return 'setSecureContext' in server;
}
