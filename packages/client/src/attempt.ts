import { type Call, failBy, type Outcome } from './call.ts';
import { ignoreErrors, readMember } from './lenient.ts';
import type { PreparedRequest } from './prepare-request.ts';
import { readAnswer } from './read-answer.ts';
import { readBytes } from './read-bytes.ts';
import { type Interruption, within } from './within.ts';

/** Sends a request once, and waits for its response until something ends that; never rejects. */
export const attempt = async (
  call: Call,
  { url, body, fetch, caller }: PreparedRequest,
  fields: Record<string, string>,
  token: string,
  limitMs: number,
): Promise<Outcome | Interruption> => {
  const headers = {
    ...fields,
    Authorization: `Bearer ${token}`,
    'Content-Type': 'application/json',
  };
  try {
    const answer = await within(caller, limitMs, async (signal) => {
      call.attempts += 1;
      // Following a redirect would send the token, and the plant again, elsewhere. Called as a bare
      // name: called as a member, a browser's fetch is an "Illegal invocation".
      const response = await fetch(url, {
        method: 'POST',
        headers,
        body,
        redirect: 'manual',
        signal,
      });
      const { status } = response;
      // A response after the end of its attempt is only cancelled.
      if (signal.aborted || !Number.isInteger(status)) {
        void ignoreErrors(() => (response.body as ReadableStream | null)?.cancel());
        throw new TypeError('fetch returned no Response');
      }
      call.response = { status, headers: readMember(response, 'headers') };
      // An honest response repeats the request, at most with every character as a \uXXXX.
      const longest = 2 ** 20 + 6 * body.length;
      return { status, longest, body: await readBytes(response, signal, longest) };
    });
    return typeof answer === 'string' ? answer : readAnswer(call, answer);
  } catch (thrown) {
    return failBy(call, 'network', thrown);
  }
};
