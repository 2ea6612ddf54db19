import { readFileSync } from 'node:fs';

type Header = {
  readonly required: boolean;
  readonly schema: { readonly enum?: readonly string[]; readonly minimum?: number };
};

type Document = {
  readonly paths: {
    readonly '/plants': {
      readonly post: {
        readonly responses: Readonly<
          Record<string, { readonly headers: Readonly<Record<string, unknown>> }>
        >;
      };
    };
  };
  readonly components: { readonly headers: Readonly<Record<string, Header>> };
};

const file = new URL('../../packages/core/openapi.json', import.meta.url);
const { paths, components } = JSON.parse(readFileSync(file, 'utf8')) as Document;

/** Header fields that HTTP adds to a response, or that OpenAPI declares elsewhere. CORS is Fetch's. */
const ofHttp = new Set(['connection', 'content-length', 'content-type', 'date', 'keep-alive']);
const ofCors = /^(?:access-control-.*|vary)$/;

const isValid = ({ enum: values, minimum }: Header['schema'], value: string): boolean =>
  (values?.includes(value) ?? true) && (minimum === undefined || Number(value) >= minimum);

/** Returns in what the header fields of a response differ from those that `openapi.json` declares. */
export const undeclaredHeaders = (
  status: number,
  headers: Readonly<Record<string, string>>,
): string[] => {
  const names = Object.keys(paths['/plants'].post.responses[status]?.headers ?? {});
  const declared = new Map(names.map((name) => [name.toLowerCase(), components.headers[name]]));
  const sent = Object.entries(headers).filter(([name]) => !ofHttp.has(name) && !ofCors.test(name));
  return [
    ...sent.flatMap(([name, value]) => {
      const header = declared.get(name);
      return header !== undefined && isValid(header.schema, value) ? [] : [`${name}: ${value}`];
    }),
    ...[...declared].flatMap(([name, header]) =>
      header?.required === true && headers[name] === undefined ? [`no ${name}`] : [],
    ),
  ];
};
