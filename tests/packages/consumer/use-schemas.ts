import { createMemoryRepository, createPlant, type Plant } from '@plantstore/core';
import { NewPlant } from '@plantstore/core/schemas';
import * as z from 'zod';

const Order = z.object({ plant: NewPlant, label: NewPlant.shape.name.optional() });
const { plant } = Order.parse({ plant: { id: 7, name: 'Monstera', tag: undefined } });
const id: bigint = plant.id;
const created = await createPlant(createMemoryRepository(), plant);
const { name }: Plant = created._unsafeUnwrap();
const { error } = Order.safeParse({ plant: { id: '7' } });
console.log([`${id} ${name}`, ...(error?.issues ?? []).map(({ message }) => message)].join('; '));
