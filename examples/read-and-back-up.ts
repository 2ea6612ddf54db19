import { backUpPlants, readPlants } from '@plantstore/sqlite';

const path = process.env['PLANTS_FILE'] ?? 'plants.db';
for await (const read of readPlants({ path })) {
  if (read.isErr()) throw new Error(read.error.message);
  console.log(read.value);
}

const backedUp = await backUpPlants({ from: path, to: `${path}.backup` });
if (backedUp.isErr()) throw new Error(backedUp.error.message);
console.log(`plants: ${backedUp.value.plants}`);
