import type { ResultAsync } from 'neverthrow';
import { describe, expectTypeOf, it } from 'vitest';
import {
  createPlant,
  type CreatePlantError,
  type NewPlant,
  type Plant,
  type PlantRepository,
} from './index.ts';

describe('the types of core', () => {
  it('have an exact id and an optional tag', () => {
    expectTypeOf<NewPlant>().toEqualTypeOf<{
      id: bigint;
      name: string;
      tag?: string;
    }>();
    expectTypeOf<Plant>().toEqualTypeOf<{ name: string; tag?: string }>();
  });

  it('accept any input and return a Result with a closed error union', () => {
    expectTypeOf(createPlant).parameters.toEqualTypeOf<[PlantRepository, unknown]>();
    expectTypeOf(createPlant).returns.toEqualTypeOf<ResultAsync<Plant, CreatePlantError>>();
    expectTypeOf<CreatePlantError['kind']>().toEqualTypeOf<
      'plant-invalid' | 'id-taken' | 'plant-refused' | 'store-unavailable'
    >();
  });

  it('have at least one fault in a plant-invalid error', () => {
    type Invalid = Extract<CreatePlantError, { kind: 'plant-invalid' }>;
    expectTypeOf<Invalid['faults'][0]>().not.toEqualTypeOf<undefined>();
  });
});
