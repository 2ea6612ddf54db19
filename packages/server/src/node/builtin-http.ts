import type { Server } from 'node:http';
import type { Server as TlsServer } from 'node:https';

// An import of node:http also evaluates its WebSocket client, which takes 3 MB and 15 ms.
export const { createServer, IncomingMessage, ServerResponse, STATUS_CODES } =
  process.getBuiltinModule('node:http');

/** Loads node:https, for TLS only, because it takes a fifth of the time of a start. */
export const loadHttps = () => process.getBuiltinModule('node:https');

/** Whether a server serves HTTPS. */
export const isTlsServer = (server: Server): server is TlsServer => 'setSecureContext' in server;
