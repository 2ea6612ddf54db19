// Prints the CPU time of parseNewPlant over that of decodeBody, round by round, as JSON.
import { parseNewPlant } from '@plantstore/core';
import { decodeBody } from '@plantstore/core/wire';

/** CPU time of a measurement, in microseconds. */
const measuredUs = 100_000;

const cpuPerInput = <T>(run: (input: T) => unknown, inputs: readonly T[]): number => {
  const start = process.cpuUsage();
  for (let count = inputs.length; ; count += inputs.length) {
    for (const input of inputs) run(input);
    const { user, system } = process.cpuUsage(start);
    if (user + system > measuredUs) return (user + system) / count;
  }
};

const ratiosOf = (text: string): number[] => {
  const bodies = Array.from({ length: 1_000 }, (_, id) =>
    new TextEncoder().encode(text.replace('7', String(id))),
  );
  // Decoded separately, as from the wire, so that no two are the same object.
  const inputs = bodies.map((body) => decodeBody(body)._unsafeUnwrap());
  const round = () => cpuPerInput(parseNewPlant, inputs) / cpuPerInput(decodeBody, bodies);
  round();
  return Array.from({ length: 9 }, round);
};

const valid = ratiosOf('{"id":7,"name":"Monstera","tag":"climber"}');
const invalid = ratiosOf('{"id":7.5,"name":8,"tag":"climber"}');
console.log(JSON.stringify({ valid, invalid }));
