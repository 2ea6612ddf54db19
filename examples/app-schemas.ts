import { NewPlant } from '@plantstore/core/schemas';
import * as z from 'zod';

// A schema of the app that contains a plant.
const Order = z.object({ plant: NewPlant, count: z.int() });
const { error } = Order.safeParse({ plant: { id: 1.5 }, count: 1 });
for (const { path, message } of error?.issues ?? []) console.log(`${path.join('.')}: ${message}`);

// A plant with a rule of the app.
const Named = NewPlant.extend({ name: NewPlant.shape.name.min(1, 'enter a name') });
console.log(Named.safeParse({ id: 7, name: '' }).error?.issues[0]?.message);

// The fields of a form, which are texts.
export const Form = NewPlant.extend({
  id: z.preprocess(
    (id) => (typeof id === 'string' && /^-?\d+$/.test(id) ? BigInt(id) : id),
    NewPlant.shape.id,
  ),
  tag: z.preprocess((tag) => (tag === '' ? undefined : tag), NewPlant.shape.tag),
});
console.log(Form.parse({ id: '9007199254740993', name: 'Monstera', tag: '' }));

// JSON Schema, for a document of the app.
const { properties } = z.toJSONSchema(NewPlant, { io: 'input', unrepresentable: 'any' });
console.log(Object.keys(properties ?? {}).join(', '));
