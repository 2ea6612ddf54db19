// The process that validates: one contender for one block at a time.
import { createPlant, NewPlant, parseNewPlant, type PlantRepository } from '@plantstore/core';
import { okAsync } from 'neverthrow';

/** What the process may be asked; the names of the contenders come first. */
export type Question =
  | { readonly ask: 'names' }
  | {
      readonly ask: 'block';
      readonly name: string;
      readonly isPlant: boolean;
      readonly ms: number;
    };

/** Whether an input is a plant. */
type Validate = (input: unknown) => boolean | Promise<boolean>;

const keepsNothing: PlantRepository = { create: () => okAsync() };

const { otherValidators } = (await import(
  new URL('../compare/validators.mjs', import.meta.url).href
)) as { readonly otherValidators: Readonly<Record<string, Validate>> };

const contenders: Readonly<Record<string, Validate>> = {
  parseNewPlant: (input) => parseNewPlant(input).isOk(),
  // createPlant, on a repository that keeps nothing.
  'parse and one promise': async (input) => (await createPlant(keepsNothing, input)).isOk(),
  "core's schema": (input) => NewPlant.safeParse(input).success,
  ...otherValidators,
};

// Parsed anew for each input, as from the wire, so that no two are the same object.
const inputs = (text: string): readonly unknown[] =>
  Array.from({ length: 1_000 }, (_, id): unknown => JSON.parse(text.replace('7', String(id))));
const plants = inputs('{"id":7,"name":"Monstera","tag":"climber"}');
const faulty = inputs('{"id":7.5,"name":8,"tag":"climber"}');

/** Validations in a second. */
const runBlock = async (
  validate: Validate,
  { isPlant, ms }: Question & { readonly ask: 'block' },
): Promise<number> => {
  const given = isPlant ? plants : faulty;
  const began = performance.now();
  let count = 0;
  while (performance.now() - began < ms) {
    for (const input of given) {
      const said = validate(input);
      // An await of what is there already would cost more than the validation.
      if ((typeof said === 'boolean' ? said : await said) !== isPlant) {
        throw new Error('a validator is wrong');
      }
    }
    count += given.length;
  }
  return (count * 1_000) / (performance.now() - began);
};

const answer = async (question: Question): Promise<unknown> => {
  if (question.ask === 'names') return Object.keys(contenders);
  const validate = contenders[question.name];
  if (validate === undefined) throw new Error('no contender has this name');
  return runBlock(validate, question);
};

process.on('message', (question: Question) => {
  void answer(question).then((told) => process.send?.(told));
});
