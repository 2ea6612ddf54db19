import fc from 'fast-check';

/** The only token that the target accepts. */
export const token = 'fuzz';
/** The maxBodyBytes of the target. */
export const maxBodyBytes = 1000;

/** A value with a weight for fc.oneof. */
export const often = <T>(weight: number, value: T) => ({ weight, arbitrary: fc.constant(value) });
/** Values that fc.oneof selects rarely. */
export const rarely = <T>(...values: readonly T[]) => ({
  weight: 1,
  arbitrary: fc.constantFrom(...values),
});

/** Any bytes, as a latin1 string. */
export const anyBytes = fc.string({ unit: fc.nat(255).map((code) => String.fromCharCode(code)) });
