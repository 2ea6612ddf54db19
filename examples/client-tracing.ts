import { randomBytes } from 'node:crypto';
import { createClient } from '@plantstore/client';

const { PLANTSTORE_URL = 'http://127.0.0.1:3000', PLANTSTORE_TOKEN = '' } = process.env;

/** Placeholder for a tracer. A W3C `traceparent` contains the ids of the trace and of the span. */
const traceparent = () =>
  `00-${randomBytes(16).toString('hex')}-${randomBytes(8).toString('hex')}-01`;

const client = createClient({
  baseUrl: PLANTSTORE_URL,
  token: PLANTSTORE_TOKEN,
  // Called once for each call. Use an object for headers that never change.
  headers: () => ({ traceparent: traceparent() }),
});

const created = await client.createPlant(
  { id: 16n, name: 'Monstera' },
  { headers: { 'X-Gateway-Key': 'a key for this call' } },
);
console.log(created.isOk() ? 'created' : created.error.message);
