import * as z from 'zod/mini';
import { NewPlant, Plant } from './plant.ts';

/** The specification's Error: a number and a text. */
const ErrorBody = z.object({ error: z.int32(), message: z.string() });

const int64Or32 = new Map<unknown, object>([
  ['int64', { type: 'integer', format: 'int64' }],
  ['int32', { type: 'integer', format: 'int32' }],
]);

const schemaOf = (schema: z.core.$ZodType, descriptions: Readonly<Record<string, string>>) => {
  const { $schema: _, ...jsonSchema } = z.toJSONSchema(schema, {
    // What a client may send: other members are allowed and ignored.
    io: 'input',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema: target, path }) => {
      const { def } = zodSchema._zod;
      const inner = def.type === 'pipe' ? def.out._zod.def : def;
      const integer = int64Or32.get((inner as { format?: unknown }).format);
      if (integer !== undefined) {
        delete target.minimum;
        delete target.maximum;
        Object.assign(target, integer);
      }
      const description = path[0] === 'properties' ? descriptions[String(path[1])] : undefined;
      if (description !== undefined) target.description = description;
    },
  });
  return jsonSchema;
};

const plantMembers = {
  name: 'The name of the plant',
  tag: 'Tag to specify the type of the plant',
};

const json = (schema: string) => ({
  'application/json': { schema: { $ref: `#/components/schemas/${schema}` } },
});

/**
 * The specification as an OpenAPI 3.1 document, made from the schemas that validate. It is shipped
 * as the file `openapi.json`; `UPDATE_OPENAPI=1 pnpm test` writes that file anew.
 */
export const openApiDocument = () => ({
  openapi: '3.1.1',
  info: {
    title: 'Plant Store',
    version: '1.0.0',
    license: { name: 'MIT', identifier: 'MIT' },
  },
  servers: [
    {
      url: '{base_url}',
      variables: { base_url: { default: 'http://127.0.0.1:3000' } },
    },
  ],
  security: [{ bearer: [] }],
  paths: {
    '/plants': {
      post: {
        operationId: 'createPlant',
        description: 'Creates a new plant in the store',
        requestBody: { required: true, content: json('NewPlant') },
        responses: {
          '200': { description: 'The plant response', content: json('Plant') },
          '400': { description: 'Error response', content: json('Error') },
        },
      },
    },
  },
  components: {
    schemas: {
      Plant: schemaOf(Plant, plantMembers),
      NewPlant: schemaOf(NewPlant, {
        id: 'Identification number of the plant',
        ...plantMembers,
      }),
      Error: schemaOf(ErrorBody, {
        error: 'Numeric error indicator',
        message: 'Error message text',
      }),
    },
    securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
  },
});
