import type { RequestHead } from '../src/http/request-head.ts';

type Fields = Readonly<Record<string, string | readonly string[]>>;

/** A request head that is easy to change. */
export type Request = Omit<RequestHead, 'rawHeaders'> & { readonly fields: Fields };

export const maxBodyBytes = 1000;

/** A request that a service with the token `good` admits. */
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

export const headOf = ({ fields, ...line }: Request): RequestHead => ({
  ...line,
  rawHeaders: Object.entries(fields).flatMap(([name, values]) =>
    [values].flat().flatMap((value) => [name, value]),
  ),
});

export const withFields =
  (fields: Fields) =>
  (request: Request): Request => ({ ...request, fields: { ...request.fields, ...fields } });

export const without =
  (name: string) =>
  (request: Request): Request => {
    const { [name]: _, ...fields } = request.fields;
    return { ...request, fields };
  };
