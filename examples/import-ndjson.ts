// node import-ndjson.ts plants.ndjson: creates the plant of each line. Whatever ended it before, running
// it again is safe and goes on, as a plant that is there already is created again without a change.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { createClient, createPlants, type CreatePlantError } from '@plantstore/client';
import { parseNewPlant } from '@plantstore/core';
import { errorMessages } from '@plantstore/core/errors';
import { decodeBody } from '@plantstore/core/wire';

const { PLANTSTORE_URL = 'http://127.0.0.1:3000', PLANTSTORE_TOKEN = '' } = process.env;
const [, , file = 'plants.ndjson'] = process.argv;
const { isTTY } = process.stdout;
const { size } = await stat(file);

let created = 0;
let refused = 0;
let shown = '';
let reached = 0;

const showProgress = (bytes: number) => {
  // Plants are created in another order than that of the file.
  reached = Math.max(reached, bytes);
  // Nobody knows the size of a pipe, and a file may grow.
  const tenths = size > 0 ? Math.min(10, Math.floor((10 * reached) / size)) : 0;
  const bar = `[${'#'.repeat(tenths)}${'.'.repeat(10 - tenths)}]`;
  // A terminal has its line rewritten, a log gets a line for each tenth.
  if (isTTY) process.stdout.write(`\r\u001b[K${bar} ${created} created, ${refused} refused`);
  else if (bar !== shown) console.log(`${bar} ${created} created, ${refused} refused`);
  shown = bar;
};

const refuse = (line: number, why: string) => {
  refused += 1;
  if (isTTY) process.stdout.write('\r\u001b[K');
  console.error(`line ${line}: ${why}`);
};

/** The lines as bytes: a text may have been mended, and have more ends of lines than NDJSON knows. */
async function* readLines() {
  let rest = Buffer.alloc(0);
  for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
    rest = Buffer.concat([rest, chunk]);
    for (let end = rest.indexOf('\n'); end >= 0; end = rest.indexOf('\n')) {
      yield rest.subarray(0, end + 1);
      rest = rest.subarray(end + 1);
    }
  }
  if (rest.length > 0) yield rest;
}

/** The plants, each with its line's number and where that ends in the file. Ids are exact. */
async function* readPlants() {
  let line = 0;
  let end = 0;
  for await (const bytes of readLines()) {
    line += 1;
    end += bytes.length;
    if (bytes.toString().trim() === '') continue;
    const plant = decodeBody(bytes).andThen(parseNewPlant);
    if (plant.isOk()) yield { ...plant.value, line, end };
    else {
      const { error } = plant;
      const names = error.kind === 'plant-invalid' ? error.faults : [error.kind];
      refuse(line, names.map((name) => errorMessages[name]).join('; '));
    }
  }
}

/** Whether it is this plant that cannot be created; anything else would befall the next ones, too. */
const isOfThePlant = (error: CreatePlantError): boolean =>
  error.kind === 'request-invalid' ||
  (error.kind === 'refused' && [400, 413].includes(error.status));

const client = createClient({ baseUrl: PLANTSTORE_URL, token: PLANTSTORE_TOKEN });
let problem: string | undefined;

for await (const { newPlant, result } of createPlants(client, readPlants(), { concurrency: 32 })) {
  if (result.isOk()) created += 1;
  else if (isOfThePlant(result.error)) refuse(newPlant.line, result.error.message);
  else {
    problem = `stopped at line ${newPlant.line}: ${result.error.message}`;
    break;
  }
  showProgress(newPlant.end);
}

if (isTTY) console.log();
console.log(`${created} created, ${refused} refused`);
if (problem !== undefined) console.error(`${problem}; run it again to go on`);
process.exitCode = problem === undefined ? Math.min(refused, 1) : 2;
