import { err, type Err } from 'neverthrow';
import type { RequestInvalid } from './create-plant-error.ts';

const messages = {
  'id-not-exact': 'id must be an exact int64',
  'plant-unwritable': 'the plant cannot be written as JSON',
  'base-url-invalid': 'baseUrl must be a plain http(s) URL',
  'signal-invalid': 'signal must be an AbortSignal',
  'fetch-invalid': 'fetch must be a function',
} as const satisfies Record<RequestInvalid['reason'], string>;

export const requestInvalid = (reason: RequestInvalid['reason']): Err<never, RequestInvalid> =>
  err({ kind: 'request-invalid', reason, message: messages[reason], attempts: 0 });
