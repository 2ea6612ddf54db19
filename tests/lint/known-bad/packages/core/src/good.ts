// expected: nothing
import { ok, type Result } from 'neverthrow';
import { Text } from './plant.ts';

export const text = (): Result<unknown, never> => ok(Text);
