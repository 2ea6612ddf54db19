import { operation } from '@plantstore/core/wire';
import { type Call, failWithCause, type Outcome } from './call.ts';
import { ignoreErrors } from './untrusted.ts';
import type { PreparedRequest } from './prepare-request.ts';
import { readResponse } from './read-response.ts';
import { readText } from './read-text.ts';
import { type Interruption, withTimeout } from './with-timeout.ts';

/** Sends a request once and returns its outcome, or what interrupted the attempt; never rejects. */
export const attempt = (
  call: Call,
  { url, body, fetch, caller }: PreparedRequest,
  fields: Record<string, string>,
  token: string,
  limitMs: number,
): Promise<Outcome | Interruption> =>
  withTimeout(caller, limitMs, async (signal) => {
    try {
      call.attempts += 1;
      call.response = undefined;
      const headers = {
        ...fields,
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
      };
      // Following a redirect would send the token and the plant to another URL. Called without an
      // object, because a browser's fetch throws "Illegal invocation" as a method of another one.
      const response = await fetch(url, {
        method: operation.method,
        headers,
        body,
        redirect: 'manual',
        signal,
      });
      const { status } = response;
      // A response that arrives after the end of its attempt is cancelled.
      if (signal.aborted || !Number.isInteger(status)) {
        void ignoreErrors(() => (response.body as ReadableStream | null)?.cancel());
        throw new TypeError('fetch returned no Response');
      }
      call.response = { status, source: response };
      // A valid response repeats the plant, at most with every character as a \uXXXX.
      const text = await readText(response, signal, 2 ** 20 + 6 * body.length);
      return readResponse(call, status, body, text);
    } catch (thrown) {
      return failWithCause(call, 'network', thrown);
    }
  });
