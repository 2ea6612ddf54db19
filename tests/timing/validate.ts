// Prints the CPU time of the zod schema over that of parseNewPlant, round by round, as JSON.
import { NewPlant, parseNewPlant } from '@plantstore/core';

type Validate = (input: unknown) => boolean;

const ours: Validate = (input) => parseNewPlant(input).isOk();
const schema: Validate = (input) => NewPlant.safeParse(input).success;

/** CPU time of a measurement, in microseconds. */
const measuredUs = 100_000;

const cpuPerInput = (validate: Validate, inputs: readonly unknown[], expected: boolean): number => {
  const start = process.cpuUsage();
  for (let count = inputs.length; ; count += inputs.length) {
    for (const input of inputs) if (validate(input) !== expected) throw new Error('wrong result');
    const { user, system } = process.cpuUsage(start);
    if (user + system > measuredUs) return (user + system) / count;
  }
};

const ratiosOf = (text: string, expected: boolean): number[] => {
  // Parsed anew for each input, as from the wire, so that no two are the same object.
  const inputs = Array.from({ length: 1_000 }, (_, id): unknown =>
    JSON.parse(text.replace('7', String(id))),
  );
  const round = () => cpuPerInput(schema, inputs, expected) / cpuPerInput(ours, inputs, expected);
  round();
  return Array.from({ length: 9 }, round);
};

const valid = ratiosOf('{"id":7,"name":"Monstera","tag":"climber"}', true);
const invalid = ratiosOf('{"id":7.5,"name":8,"tag":"climber"}', false);
console.log(JSON.stringify({ valid, invalid }));
