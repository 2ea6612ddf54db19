import { readHead, type RequestHead } from '../src/http/request-head.ts';

/** Parts of a request that replace those of a valid one: its line, and fields by name; `undefined` removes one. */
export type Change = Readonly<Record<string, string | readonly string[] | undefined>>;

/** Returns the head of a valid request for a service with the token `good`, with a change. */
export const headWith = (change: Change = {}): RequestHead => {
  const { method = 'POST', target = '/plants', httpVersion = '1.1', ...more } = change;
  const fields: Change = {
    Host: 'localhost:3000',
    Authorization: 'Bearer good',
    'Content-Type': 'application/json',
    'Content-Length': '30',
    ...more,
  };
  const rawHeaders = Object.entries(fields).flatMap(([name, values = []]) =>
    [values].flat().flatMap((value) => [name, value]),
  );
  return readHead(String(method), String(target), String(httpVersion), rawHeaders);
};
