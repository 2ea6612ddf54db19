import { createPlant } from '@plantstore/core';
import { openSqliteRepository } from '@plantstore/sqlite';

const [, , path = 'plants.db'] = process.argv;

/** Opens the file, creates a plant, closes the file, and returns the plant's name or the error. */
const create = async (name: string): Promise<string> => {
  const opened = await openSqliteRepository({ path });
  if (opened.isErr()) return opened.error.message;
  const created = await createPlant(opened.value, { id: 9223372036854775807n, name });
  await opened.value.close();
  return created.match(
    (plant) => plant.name,
    (error) => error.kind,
  );
};

console.log([await create('Monstera'), await create('Monstera'), await create('Ficus')].join('; '));
