import type { ResultAsync } from 'neverthrow';
import { describe, expectTypeOf, it } from 'vitest';
import type * as z from 'zod';
import {
  createPlant,
  type CreatePlantError,
  type NewPlant,
  type Plant,
  type PlantRepository,
} from './index.ts';
import type * as schemas from './schemas.ts';

describe('the types of core', () => {
  it('the type of a plant has an exact id and an optional tag', () => {
    expectTypeOf<NewPlant>().toEqualTypeOf<{
      id: bigint;
      name: string;
      tag?: string | undefined;
    }>();
    expectTypeOf<Plant>().toEqualTypeOf<{ name: string; tag?: string | undefined }>();
  });

  it('the schema of a plant has the type of a plant', () => {
    expectTypeOf<NewPlant>().toEqualTypeOf<z.output<typeof schemas.NewPlant>>();
    expectTypeOf<Plant>().toEqualTypeOf<z.output<typeof schemas.Plant>>();
  });

  it('createPlant accepts any input and returns a Result with a closed union of errors', () => {
    expectTypeOf(createPlant).parameters.toEqualTypeOf<[PlantRepository, unknown]>();
    expectTypeOf(createPlant).returns.toEqualTypeOf<ResultAsync<Plant, CreatePlantError>>();
    expectTypeOf<CreatePlantError['kind']>().toEqualTypeOf<
      'plant-invalid' | 'id-taken' | 'plant-refused' | 'store-unavailable'
    >();
  });

  it('a plant-invalid error has at least one fault in its type', () => {
    type Invalid = Extract<CreatePlantError, { kind: 'plant-invalid' }>;
    expectTypeOf<Invalid['faults'][0]>().not.toEqualTypeOf<undefined>();
  });
});
