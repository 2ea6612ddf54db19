import { createMemoryRepository, createPlant } from '@plantstore/core';
import { errorTable } from '@plantstore/core/errors';
import { isExactId } from '@plantstore/core/wire';

const repository = createMemoryRepository();
const created = await createPlant(repository, { id: 7, name: 'Monstera', tag: 'climber' });
const refused = await createPlant(repository, { id: 7, name: 'Ficus' });

const answers = [
  created.match(({ name, tag = '' }) => `${name}, ${tag}`, String),
  refused.match(String, (error) => `${error.kind} ${errorTable['id-taken'].error}`),
  isExactId(2 ** 53),
];
console.log(answers.join('; '));
