import { describe, expect, it } from 'vitest';
import { hostile } from '../test/fixtures.ts';
import { callerSignal } from './caller-signal.ts';

describe('callerSignal', () => {
  it('finds the signal', () => {
    const { signal } = new AbortController();
    expect(callerSignal({ signal })).toMatchObject({ value: signal });
  });

  it.each([undefined, null, {}, { signal: undefined }, { signal: null }, 7, hostile])(
    'finds none in options number %#',
    (options) => {
      expect(callerSignal(options)).toMatchObject({ value: undefined });
    },
  );

  it.each([{}, { aborted: false }, 7, 'abort', new EventTarget(), new AbortController(), hostile])(
    'refuses garbage number %#, which could not abort anything',
    (signal) => {
      expect(callerSignal({ signal })).toMatchObject({
        error: { kind: 'request-invalid', reason: 'signal-invalid', attempts: 0 },
      });
    },
  );
});
