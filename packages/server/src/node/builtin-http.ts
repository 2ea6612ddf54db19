// An import of node:http also evaluates its WebSocket client, which takes 3 MB and 15 ms.
export const { createServer, IncomingMessage, ServerResponse, STATUS_CODES } =
  process.getBuiltinModule('node:http');
