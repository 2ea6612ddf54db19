import type { Server } from 'node:http';
import type { Server as TlsServer } from 'node:https';

/**
 * Loads node:http, for a server only, because a program may import this package for its rules. An import would also
 * evaluate its WebSocket client, which takes 3 MB and 15 ms.
 */
export const loadHttp = () => process.getBuiltinModule('node:http');

/** Loads node:https, for TLS only, because it takes a fifth of the time of a start. */
export const loadHttps = () => process.getBuiltinModule('node:https');

export const isTlsServer = (server: Server): server is TlsServer => 'setSecureContext' in server;
