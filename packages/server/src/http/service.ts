import { type Admission, type Admit, createAdmit } from './admit.ts';
import { createOperations, type Operation } from './operations.ts';
import type { serviceRules, SettingsOf } from './options.ts';
import type { RequestHead } from './request-head.ts';
import { createCors, errorResponse, type HeaderList, type ResponseData } from './responses.ts';
import { isThenable } from './values.ts';

/** Creates the service. */
export function createService(settings: SettingsOf<typeof serviceRules>): Service {
  const { authenticate, maxBodyBytes, handlerTimeoutMs } = settings;
  const cors = createCors(settings.corsOrigins, settings.corsAllowedHeaders);
  const lateToken = `authenticate timed out after ${handlerTimeoutMs} ms`;
  const latePlant = `the repository timed out after ${handlerTimeoutMs} ms`;
  const operations = createOperations(settings, cors);
  const admit = createAdmit(operations, authenticate, maxBodyBytes);

  return {
    headersFor: cors?.headersFor ?? (() => []),
    admit(head) {
      const admission = admit(head);
      if (!isThenable(admission)) return admission;
      return inTime<Admission>(admission, handlerTimeoutMs, lateToken, (response) => ({
        response,
      }));
    },
    respond(head, body) {
      // Admitted, so that there is one.
      const { run } = operations.operationOf(head) as Operation;
      return inTime(run(body), handlerTimeoutMs, latePlant, (response) => response);
    },
  };
}

/** The semantics of the operations: plain data in and out. */
export type Service = {
  /** Returns the CORS headers of every response to a request with this Origin field. */
  readonly headersFor: (origin: string | undefined) => HeaderList;
  /** Decides from the head alone: read the body, or send this response. */
  readonly admit: Admit;
  /** Resolves with the response to the body of an admitted request. It never rejects. */
  readonly respond: (head: RequestHead, body: Uint8Array) => Promise<ResponseData>;
};

/** Resolves once: with the result of the work, or with an error response if it fails or is late. */
function inTime<T>(
  work: PromiseLike<T>,
  maxMs: number,
  lateCause: string,
  resultOf: (response: ResponseData) => T,
): Promise<T> {
  return new Promise((resolve) => {
    const onTimeout = () => settle(resultOf(errorResponse('unavailable', { cause: lateCause })));
    const timer = setTimeout(onTimeout, maxMs);
    // The socket of a request keeps the process alive, not its timer. Only workerd has a number.
    timer.unref?.();
    work.then(settle, (cause: unknown) => settle(resultOf(errorResponse('internal', { cause }))));

    function settle(result: T): void {
      clearTimeout(timer);
      resolve(result);
    }
  });
}
