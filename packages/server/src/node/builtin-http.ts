// An import of node:http reads whatever it exports, a WebSocket client among it, which takes 3 MB and 15 ms to load.
export const { createServer, IncomingMessage, ServerResponse, STATUS_CODES } =
  process.getBuiltinModule('node:http');
