// Run by Jest with jsdom, which has no TextDecoder.
/* global test, expect */
import { createClient } from '@plantstore/client';
import { decodeBody } from '@plantstore/core/wire';
import { createFetchHandler } from '@plantstore/server/fetch';

test('the packages can be imported, and the client names what is missing before it sends', async () => {
  expect([typeof TextDecoder, typeof decodeBody, typeof createFetchHandler]).toEqual([
    'undefined',
    'function',
    'function',
  ]);
  let sent = 0;
  const fetch = async () => {
    sent += 1;
    throw new Error('sent');
  };
  const client = createClient({ baseUrl: 'http://127.0.0.1:9', token: 't', fetch });
  const created = await client.createPlant({ id: 1n, name: 'Monstera' });
  expect(created._unsafeUnwrapErr()).toMatchObject({
    kind: 'request-invalid',
    attempts: 0,
    message: expect.stringContaining('TextDecoder'),
  });
  expect(sent).toBe(0);
});
