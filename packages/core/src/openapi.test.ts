import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { openApiDocument } from '../scripts/write-openapi.ts';
import { errorTable } from './errors.ts';

describe('openapi.json', () => {
  it('openapi.json equals the document that pnpm openapi writes', async () => {
    const file = new URL('../openapi.json', import.meta.url);
    const written = await readFile(file, 'utf8');
    expect(written).toBe(`${JSON.stringify(openApiDocument, null, 2)}\n`);
  });

  it.each([
    ['200', []],
    ['400', []],
    ['401', ['WWW-Authenticate']],
    ['415', ['Accept', 'Accept-Encoding']],
    ['500', []],
    ['503', ['Retry-After']],
  ])('openapi.json declares the header fields of a response with %s', (status, more) => {
    const { paths, components } = openApiDocument;
    const declared = paths['/plants'].post.responses[status]?.headers ?? {};
    const every = ['X-Request-Id', 'Cache-Control', 'X-Content-Type-Options'];
    expect(Object.keys(declared).toSorted()).toEqual([...every, ...more].toSorted());
    for (const [name, reference] of Object.entries(declared)) {
      expect(reference).toEqual({ $ref: `#/components/headers/${name}` });
      expect(components.headers[name]?.required).toBe(!name.startsWith('Accept'));
    }
  });

  it('openapi.json has the version, the license and the security of the specification', () => {
    const { info, security, components } = openApiDocument;
    expect(info).toMatchObject({ version: '1.0.0', license: { name: 'MIT' } });
    expect(security).toEqual([{ bearer: [] }]);
    expect(components.securitySchemes.bearer).toEqual({ type: 'http', scheme: 'bearer' });
  });

  it('openapi.json has a server without a variable first, for tools that do not replace one', () => {
    const [first, second] = openApiDocument.servers;
    expect(URL.canParse(`${first?.url}/plants`)).toBe(true);
    expect(second?.url).toBe('{base_url}');
  });

  it('openapi.json has no member that OpenAPI 3.0 does not have', () => {
    expect(Object.keys(openApiDocument.info.license).toSorted()).toEqual(['name', 'url']);
    const names = new Set<string>();
    JSON.stringify(openApiDocument, (name, value: unknown) => {
      names.add(name);
      return value;
    });
    // Of JSON Schema and OpenAPI 3.1 only.
    for (const newer of [
      '$schema',
      'const',
      'examples',
      'identifier',
      'jsonSchemaDialect',
      'webhooks',
    ])
      expect(names).not.toContain(newer);
  });

  // Columns: field, type, format, required, meaning, as in the specification's tables.
  it.each([
    [
      'Plant',
      [
        ['name', 'string', undefined, true, 'The name of the plant'],
        ['tag', 'string', undefined, false, 'Tag to specify the type of the plant'],
      ],
    ],
    [
      'NewPlant',
      [
        ['id', 'integer', 'int64', true, 'Identification number of the plant'],
        ['name', 'string', undefined, true, 'The name of the plant'],
        ['tag', 'string', undefined, false, 'Tag to specify the type of the plant'],
      ],
    ],
    [
      'Error',
      [
        ['error', 'integer', 'int32', true, 'Numeric error indicator'],
        ['message', 'string', undefined, true, 'Error message text'],
      ],
    ],
  ] as const)('openapi.json describes %s as the specification does', (name, rows) => {
    const { properties = {}, required = [], type } = openApiDocument.components.schemas[name];
    expect(type).toBe('object');
    expect(
      Object.entries(properties).map(([field, schema]) => {
        const { type: fieldType, format, description } = schema as Record<string, unknown>;
        return [field, fieldType, format, required.includes(field), description];
      }),
    ).toEqual(rows);
  });

  it('openapi.json has the one operation of the specification, with its responses', () => {
    const { paths } = openApiDocument;
    expect(Object.keys(paths)).toEqual(['/plants']);
    expect(Object.keys(paths['/plants'])).toEqual(['post']);
    const { requestBody, responses } = paths['/plants'].post;
    const shape = (name: string) => ({
      'application/json': { schema: { $ref: `#/components/schemas/${name}` } },
    });
    expect(requestBody).toEqual({ required: true, content: shape('NewPlant') });
    expect(responses).toMatchObject({
      '200': { description: 'The plant response', content: shape('Plant') },
      '400': { description: 'Error response', content: shape('Error') },
    });
  });

  it('openapi.json lists the other statuses as responses of the server, with the same body', () => {
    const { responses } = openApiDocument.paths['/plants'].post;
    const statuses = new Set(Object.values(errorTable).map(({ status }) => String(status)));
    // A POST never gets a 405.
    statuses.delete('405');
    expect(new Set(Object.keys(responses))).toEqual(new Set(['200', ...statuses]));
    for (const status of statuses) {
      if (status === '400') continue;
      expect(responses[status]).toMatchObject({
        description: expect.stringMatching(/^Returned by the server: .+ \(\d{4}\)$/) as unknown,
        content: responses['400']?.content,
      });
    }
    expect(responses['401']?.description).toBe(
      `Returned by the server: ${errorTable.unauthenticated.message} (2401); ${errorTable['token-rejected'].message} (2402)`,
    );
  });
});
