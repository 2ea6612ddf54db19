/**
 * Writes the specification as an OpenAPI 3.1 document, from the schemas and the error table. But for
 * its version number, it is valid OpenAPI 3.0, too.
 */
import { writeFile } from 'node:fs/promises';
import * as z from 'zod';
import { type ErrorName, errorTable } from '../src/errors.ts';
import { operation } from '../src/operation.ts';
import { NewPlant, Plant } from '../src/schemas.ts';

/** The specification's Error: a number and a message. */
const ErrorBody = z.object({
  error: z.number().register(z.globalRegistry, {
    type: 'integer',
    format: 'int32',
    description: 'Numeric error indicator',
  }),
  message: z.string().register(z.globalRegistry, { description: 'Error message text' }),
});

const schemaOf = (schema: z.core.$ZodType) => {
  // The schema of a request: further members are allowed and ignored.
  const { $schema: _, ...jsonSchema } = z.toJSONSchema(schema, {
    io: 'input',
    unrepresentable: 'any',
  });
  return jsonSchema;
};

/** A header field of responses. */
type HeaderRow = {
  readonly description: string;
  /** The possible values. Without them, the value is any text, or a number if it has a `minimum`. */
  readonly values?: readonly string[];
  readonly minimum?: number;
  /** The errors whose responses have it. Without them, every response has it. */
  readonly errors?: readonly ErrorName[];
  /** Whether only some of these responses have it. */
  readonly isOptional?: true;
};

/**
 * The header fields of the responses to `POST {base_url}/plants`, besides those of HTTP itself,
 * such as `Content-Type` and `Date`, and those of CORS: a mock would send them with made-up values,
 * which browsers refuse.
 */
const responseHeaders = {
  'X-Request-Id': { description: 'Identifies the request in the log' },
  'Cache-Control': { description: 'A response is not stored by caches', values: ['no-store'] },
  'X-Content-Type-Options': {
    description: 'Browsers do not guess another media type',
    values: ['nosniff'],
  },
  'WWW-Authenticate': {
    description: 'How to authenticate; the second value is for a token that is not accepted',
    values: ['Bearer realm="plantstore"', 'Bearer realm="plantstore", error="invalid_token"'],
    errors: ['unauthenticated', 'token-rejected'],
  },
  Accept: {
    description: 'The supported media type, if the request has another one',
    values: ['application/json'],
    errors: ['media-type-unsupported'],
    isOptional: true,
  },
  'Accept-Encoding': {
    description: 'The supported content coding, if the request has another one',
    values: ['identity'],
    errors: ['media-type-unsupported'],
    isOptional: true,
  },
  'Retry-After': {
    description: 'Seconds to wait before the next attempt',
    minimum: 1,
    errors: ['unavailable'],
  },
} as const satisfies Record<string, HeaderRow>;

type Header = (typeof responseHeaders)[keyof typeof responseHeaders];

const headerSchema = (header: Header) => {
  if ('minimum' in header) return { type: 'integer', minimum: header.minimum };
  return { type: 'string', ...('values' in header && { enum: header.values }) };
};

const headers = Object.fromEntries(
  Object.entries(responseHeaders).map(([name, header]) => [
    name,
    {
      description: header.description,
      required: !('isOptional' in header),
      schema: headerSchema(header),
    },
  ]),
);

/** Returns references to the header fields of the responses with a status. */
const headersOf = (status: number) =>
  Object.fromEntries(
    Object.entries(responseHeaders)
      .filter(
        ([, header]) =>
          !('errors' in header) || header.errors.some((name) => errorTable[name].status === status),
      )
      .map(([name]) => [name, { $ref: `#/components/headers/${name}` }]),
  );

type ResponseObject = {
  readonly description: string;
  readonly headers: ReturnType<typeof headersOf>;
  readonly content: ReturnType<typeof json>;
};

/** Returns a response with its header fields and the schema of its body. */
const response = (status: number, description: string, schema: string): ResponseObject => ({
  description,
  headers: headersOf(status),
  content: json(schema),
});

const json = (schema: string) => ({
  'application/json': { schema: { $ref: `#/components/schemas/${schema}` } },
});

/** Returns the responses of the server, which are all errors but the operation's 400. */
const serverResponses = () => {
  const meanings = new Map<number, string[]>();
  for (const name of Object.keys(errorTable) as ErrorName[]) {
    const { status, error, message } = errorTable[name];
    // 400 belongs to the operation, and 405 to other methods.
    if (status === 400 || status === 405) continue;
    meanings.set(status, [...(meanings.get(status) ?? []), `${message} (${error})`]);
  }
  return Object.fromEntries(
    [...meanings].map(([status, texts]) => [
      String(status),
      response(status, `Returned by the server: ${texts.join('; ')}`, 'Error'),
    ]),
  );
};

export const openApiDocument = {
  openapi: '3.1.1',
  info: {
    title: 'Plant Store',
    version: '1.0.0',
    description:
      'A plant store with one operation. Of the error statuses, 400 belongs to the operation; the server returns the others. All have the same body, Error, whose number identifies the cause. A 400 with a number from 4000 to 4999 is a refusal by a rule that the operator of the store has added. An id is an int64, of which a double keeps 53 bits: generate a client that has it as a bigint and writes it as a JSON number.',
    contact: { name: 'The operator of the plant store' },
    license: { name: 'MIT', url: 'https://opensource.org/license/mit' },
  },
  servers: [
    // First, because several tools do not replace a variable.
    { url: 'http://127.0.0.1:3000', description: 'The program with its defaults' },
    {
      url: '{base_url}',
      variables: { base_url: { default: 'http://127.0.0.1:3000' } },
    },
  ],
  security: [{ bearer: [] }],
  tags: [{ name: 'plants', description: 'The plants in the store' }],
  paths: {
    [operation.path]: {
      [operation.method.toLowerCase() as Lowercase<typeof operation.method>]: {
        operationId: 'createPlant',
        summary: 'Create plant',
        tags: ['plants'],
        description: 'Creates a new plant in the store',
        requestBody: { required: true, content: json('NewPlant') },
        responses: {
          '200': response(200, 'The plant response', 'Plant'),
          '400': response(400, 'Error response', 'Error'),
          ...serverResponses(),
        } as Readonly<Record<string, ResponseObject>>,
      },
    },
  },
  components: {
    headers,
    schemas: {
      Plant: schemaOf(Plant),
      NewPlant: schemaOf(NewPlant),
      Error: schemaOf(ErrorBody),
    },
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
  },
};

if (import.meta.main) {
  const file = new URL('../openapi.json', import.meta.url);
  await writeFile(file, `${JSON.stringify(openApiDocument, null, 2)}\n`);
}
