import { createMemoryRepository, createPlant } from '@plantstore/core';
import { errorTable } from '@plantstore/core/errors';
import { createGroupCommit } from '@plantstore/core/group-commit';
import { isExactId } from '@plantstore/core/wire';

const memory = createMemoryRepository();
const repository = createGroupCommit({
  lanes: [async (plants) => Promise.all(plants.map(async (plant) => memory.create(plant)))],
});
const created = await createPlant(repository, { id: 7, name: 'Monstera', tag: 'climber' });
const refused = await createPlant(repository, { id: 7, name: 'Ficus' });

const outcomes = [
  created.match(({ name, tag = '' }) => `${name}, ${tag}`, String),
  refused.match(String, (error) => `${error.kind} ${errorTable['id-taken'].error}`),
  isExactId(2 ** 53),
];
await repository.close();
console.log(outcomes.join('; '));
