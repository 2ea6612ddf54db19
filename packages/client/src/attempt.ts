import { operation } from '@plantstore/core/wire';
import { failWithCause, type Outcome, textOf } from './errors.ts';
import type { Call } from './request.ts';
import { readResponse, readText } from './response.ts';
import { parseRetryAfter } from './retry-after.ts';
import { ignoreErrors } from './untrusted.ts';

/** Sends a request once, with the last token of the call, until `signal` aborts; never rejects. */
export async function attempt(call: Call, signal: AbortSignal): Promise<Outcome> {
  const { body, fetch, tokens } = call;
  const attempts = call.report.attempts + 1;
  call.report = { attempts };
  try {
    // Following a redirect would send the token and the plant to another URL. Called without an
    // object, because a browser's fetch throws "Illegal invocation" as a method of another one.
    const response = await fetch(call.url, {
      method: operation.method,
      headers: {
        ...call.fields,
        authorization: `Bearer ${tokens.at(-1)}`,
        'content-type': 'application/json',
      },
      body,
      redirect: 'manual',
      signal,
    });
    const { status } = response;
    // A response that arrives after the end of its attempt is cancelled.
    if (signal.aborted || !Number.isSafeInteger(status)) {
      void ignoreErrors(() => (response.body as ReadableStream).cancel());
      throw new Error('no Response');
    }
    call.missing = 'incomplete response';
    /** Returns a field of the response; `undefined` if it cannot be read, as in a `load` of SvelteKit. */
    const read = (name: string, missing?: '') =>
      textOf(tokens, () => response.headers.get(name) ?? missing);
    const retryAfter = read('retry-after', '');
    call.report = {
      attempts,
      status,
      requestId: read('x-request-id'),
      // One that cannot be read counts as the longest backoff.
      retryAfterMs:
        retryAfter === undefined
          ? call.maxRetryDelayMs
          : retryAfter
            ? parseRetryAfter(retryAfter, read('date'))
            : undefined,
    };
    // A valid response repeats the plant, at most with every character as a \uXXXX.
    const text = await readText(response, signal, 2 ** 20 + 6 * body.length);
    return readResponse(call, response, body, text, read('location'));
  } catch (thrown) {
    return failWithCause(call, call.missing, thrown);
  }
}
