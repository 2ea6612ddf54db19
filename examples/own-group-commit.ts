import { appendFile } from 'node:fs/promises';
import { createPlant, type PlantRepository } from '@plantstore/core';
import { type Commit, type Created, createGroupCommit } from '@plantstore/core/group-commit';
import { encodePlant } from '@plantstore/core/wire';
import { err, ok } from 'neverthrow';

const kept = new Map<bigint, string>();

const commit: Commit = async (plants) => {
  // Of several plants with one id, the first is kept.
  const added = new Map<bigint, string>();
  for (const plant of plants) {
    if (!kept.has(plant.id) && !added.has(plant.id)) added.set(plant.id, encodePlant(plant));
  }
  // A single write for the batch, flushed to the disk before its plants are acknowledged.
  const lines = [...added].map(([id, content]) => `${id} ${content}\n`);
  await appendFile(process.env['PLANTS_LOG'] ?? 'plants.log', lines.join(''), { flush: true });
  for (const [id, content] of added) kept.set(id, content);
  return plants.map((plant): Created =>
    kept.get(plant.id) === encodePlant(plant) ? ok() : err({ kind: 'id-taken', id: plant.id }),
  );
};

const { create, close } = createGroupCommit({ lanes: [commit], deadlineMs: 10_000 });
const repository: PlantRepository = { create };

const outcomes = await Promise.all(
  [{ id: 7, name: 'Monstera' }, { id: 7, name: 'Ficus' }, { id: '8' }].map(async (plant) =>
    createPlant(repository, plant).match(
      () => 'kept',
      (error) => error.kind,
    ),
  ),
);
console.log(outcomes.join(', '));
await close();
