import { createClient } from '@plantstore/client';
import { createPlants } from './create-plants.ts';

const { PLANTSTORE_URL = 'http://127.0.0.1:3000', PLANTSTORE_TOKEN = '' } = process.env;
const client = createClient({ baseUrl: PLANTSTORE_URL, token: PLANTSTORE_TOKEN });

/** Is read as fast as plants are created. */
function* readPlants() {
  for (let id = 1_000n; id < 1_100n; id += 1n) yield { id, name: `Fern ${id}` };
}

let created = 0;
for await (const { index, result } of createPlants(client, readPlants())) {
  if (result.isOk()) created += 1;
  else console.error(`plant ${index}: ${result.error.message}`);
}
console.log(`${created} created`);
