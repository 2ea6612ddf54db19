import { operation } from '@plantstore/core/wire';
import { failWithCause, type Outcome } from './errors.ts';
import type { Call } from './request.ts';
import { readResponse, readText } from './response.ts';
import { ignoreErrors } from './untrusted.ts';

/** Sends a request once, with the last token of the call, until `signal` aborts; never rejects. */
export async function attempt(call: Call, signal: AbortSignal): Promise<Outcome> {
  const { url, body, fetch } = call;
  try {
    call.attempts += 1;
    call.response = undefined;
    // Following a redirect would send the token and the plant to another URL. Called without an
    // object, because a browser's fetch throws "Illegal invocation" as a method of another one.
    const response = await fetch(url, {
      method: operation.method,
      headers: {
        ...call.fields,
        authorization: `Bearer ${call.tokens.at(-1)}`,
        'content-type': 'application/json',
      },
      body,
      redirect: 'manual',
      signal,
    });
    const { status } = response;
    // A response that arrives after the end of its attempt is cancelled.
    if (signal.aborted || !Number.isInteger(status)) {
      void ignoreErrors(() => (response.body as ReadableStream | null)?.cancel());
      throw new Error('no Response');
    }
    call.response = { status, source: response };
    // A valid response repeats the plant, at most with every character as a \uXXXX.
    const text = await readText(response, signal, 2 ** 20 + 6 * body.length);
    return readResponse(call, status, body, text);
  } catch (thrown) {
    return failWithCause(call, 'network', thrown);
  }
}
