import { readHead, type RequestHead } from '../src/http/request-head.ts';

type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;

/** A request head in a form that tests can change. */
export type Request = Pick<RequestHead, 'method' | 'target' | 'httpVersion'> & {
  readonly fields: Fields;
};

export const maxBodyBytes = 1000;

/** A valid request for a service with the token `good`. */
export const goodRequest: Request = {
  method: 'POST',
  target: '/plants',
  httpVersion: '1.1',
  fields: {
    Host: 'localhost:3000',
    Authorization: 'Bearer good',
    'Content-Type': 'application/json',
    'Content-Length': '30',
  },
};

/** Parts of a request that replace those of another one: its line, and fields by name; `undefined` removes one. */
export type Change = Fields & Partial<Omit<Request, 'fields'>>;

export const requestWith = (
  { method, target, httpVersion, ...fields }: Change,
  base = goodRequest,
): Request => ({
  method: method ?? base.method,
  target: target ?? base.target,
  httpVersion: httpVersion ?? base.httpVersion,
  fields: { ...base.fields, ...fields },
});

export const headOf = ({ fields, method, target, httpVersion }: Request): RequestHead => {
  const rawHeaders = Object.entries(fields).flatMap(([name, values = []]) =>
    [values].flat().flatMap((value) => [name, value]),
  );
  return readHead(method, target, httpVersion, rawHeaders);
};
