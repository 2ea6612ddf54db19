import { NewPlant } from '@plantstore/core/schemas';
import * as z from 'zod';

// A schema of the app that contains a plant.
const Order = z.object({ plant: NewPlant, count: z.int() });
const { error } = Order.safeParse({ plant: { id: 1.5 }, count: 1 });
for (const { path, message } of error?.issues ?? []) console.log(`${path.join('.')}: ${message}`);

// A plant with a rule of the app.
const Named = NewPlant.extend({ name: NewPlant.shape.name.min(1, 'enter a name') });
console.log(Named.safeParse({ id: 7, name: '' }).error?.issues[0]?.message);

// JSON Schema, for a document of the app.
const { properties } = z.toJSONSchema(NewPlant, { io: 'input', unrepresentable: 'any' });
console.log(Object.keys(properties ?? {}).join(', '));
