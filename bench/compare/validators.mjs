// A plant to be created, by other libraries, with the same rules as far as each can say them: the id
// a safe integer, name and tag well-formed text without U+0000. Not compiled: installed on demand.
// ajv and TypeBox only look; the others also make a plant of what they have seen.
import { Ajv } from 'ajv';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { Format } from 'typebox/format';
import * as v from 'valibot';
import { z } from 'zod';
import * as mini from 'zod/mini';

const isText = (text) => text.isWellFormed() && !text.includes('\0');

const ajv = new Ajv({ allErrors: true, formats: { text: { type: 'string', validate: isText } } });
const text = { type: 'string', format: 'text' };
const safe = { minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER };
const checkAjv = ajv.compile({
  type: 'object',
  properties: { id: { type: 'integer', ...safe }, name: text, tag: text },
  required: ['id', 'name'],
});

Format.Set('text', isText);
const Text = Type.String({ format: 'text' });
const typeBox = Compile(
  Type.Object({ id: Type.Integer(safe), name: Text, tag: Type.Optional(Text) }),
);

const valibotText = v.pipe(v.string(), v.check(isText));
const valibotPlant = v.object({
  id: v.pipe(v.number(), v.safeInteger(), v.transform(BigInt)),
  name: valibotText,
  tag: v.exactOptional(valibotText),
});

const zodText = z.string().refine(isText);
const zodPlant = z.object({
  id: z.int().transform(BigInt),
  name: zodText,
  tag: zodText.exactOptional(),
});

const miniText = mini.string().check(mini.refine(isText));
const miniPlant = mini.object({
  id: mini.pipe(mini.int(), mini.transform(BigInt)),
  name: miniText,
  tag: mini.exactOptional(miniText),
});

/** Whether an input is a plant, with every fault in hand where it is none. */
export const otherValidators = {
  zod: (input) => zodPlant.safeParse(input).success,
  'zod/mini': (input) => miniPlant.safeParse(input).success,
  valibot: (input) => v.safeParse(valibotPlant, input).success,
  ajv: (input) => checkAjv(input),
  TypeBox: (input) => typeBox.Check(input) || typeBox.Errors(input).length === 0,
};
