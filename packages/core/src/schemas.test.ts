import { describe, expect, expectTypeOf, it } from 'vitest';
import * as z from 'zod';
import * as mini from 'zod/mini';
import { errorTable } from './errors.ts';
import { openApiDocument } from '../scripts/write-openapi.ts';
import { NewPlant } from './schemas.ts';

const issuesOf = (schema: z.ZodType, input: unknown) =>
  schema.safeParse(input).error?.issues.map(({ path, message }) => [path.join('.'), message]);

const valid = { id: 7n, name: 'Monstera', tag: 'climber' };

describe('schema NewPlant', () => {
  it('the schema NewPlant has an issue for each fault, in the order id, name, tag', () => {
    expect(issuesOf(NewPlant, [])).toEqual([['', errorTable['body-not-object'].message]]);
    expect(issuesOf(NewPlant, { tag: null, name: '\ud800', id: 2n ** 63n })).toEqual([
      ['id', errorTable['id-out-of-range'].message],
      ['name', errorTable['name-not-text'].message],
      ['tag', errorTable['tag-not-text'].message],
    ]);
  });

  it('the schema NewPlant has the same messages in a schema of an app, in its shape, and in an asynchronous parse', async () => {
    const order = z.object({ plant: NewPlant, label: NewPlant.shape.name });
    const faults = [
      ['plant.id', errorTable['id-required'].message],
      ['plant.name', errorTable['name-required'].message],
      ['label', errorTable['name-not-text'].message],
    ];
    expect(issuesOf(order, { plant: {}, label: '\ud800' })).toEqual(faults);
    const parsed = await order.safeParseAsync({ plant: {}, label: '\ud800' });
    expect(parsed.error?.issues.map(({ message }) => message)).toEqual(
      faults.map(([, message]) => message),
    );
  });

  it('the schema NewPlant keeps the messages of checks that an app adds', () => {
    const short = NewPlant.extend({
      id: NewPlant.shape.id.refine((id) => id > 0n),
      name: NewPlant.shape.name.max(3),
    });
    const issues = issuesOf(short, { id: -1, name: 'Monstera' }) ?? [];
    expect(issues.map(([path]) => path)).toEqual(['id', 'name']);
    for (const [, message] of issues) {
      expect(Object.values(errorTable).map((row): string => row.message)).not.toContain(message);
    }
  });

  it('the schema NewPlant returns a bigint for a safe integer, and removes other members', () => {
    expect(NewPlant.parse({ ...valid, id: 7, colour: 'green' })).toStrictEqual(valid);
  });

  it('the schema NewPlant is a ZodType and can be extended, and members can be omitted', () => {
    expect(NewPlant).toBeInstanceOf(z.ZodType);
    const priced = NewPlant.extend({ price: z.number() });
    expect(priced.parse({ ...valid, price: 2 })).toEqual({ ...valid, price: 2 });
    expect(NewPlant.omit({ id: true }).parse(valid)).toEqual({ name: 'Monstera', tag: 'climber' });
  });

  it('the schema NewPlant can be part of a schema of zod/mini, and be extended by its functions', () => {
    const order = mini.object({ plant: NewPlant, count: mini.optional(mini.number()) });
    expect(order.parse({ plant: valid })).toEqual({ plant: valid });
    const named = mini.extend(NewPlant, { id: mini.string() });
    expect(named.parse({ ...valid, id: 'a' })).toEqual({ ...valid, id: 'a' });
  });

  it('the schema NewPlant has the JSON Schema of the OpenAPI document', () => {
    const { $schema: _, ...schema } = z.toJSONSchema(NewPlant, {
      io: 'input',
      unrepresentable: 'any',
    });
    expect(schema).toEqual(openApiDocument.components.schemas.NewPlant);
  });

  it('the schema NewPlant has the type of a form as its input', () => {
    expectTypeOf<z.input<typeof NewPlant>>().toEqualTypeOf<{
      id: bigint | number;
      name: string;
      tag?: string | undefined;
    }>();
  });
});
