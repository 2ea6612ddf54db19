import { rowsIn } from './rows-in.ts';

const of = rowsIn('packages/core/src');

export const core = [
  ...of('create-plant.ts', 'create-plant', [
    'a repository cannot change the plant',
    '.create({ ...plant })',
    '.create(plant)',
  ]),
  ...of(
    'decode-body.ts',
    'decode-body',
    ['a long id is exact', 'exactInteger(idSource) ?? Number.NaN', 'Number(idSource)'],
    ['a body that is not UTF-8 is refused', '{ fatal: true }', '{ fatal: false }'],
  ),
  ...of(
    'encode-new-plant.ts',
    'encode-new-plant',
    [
      'a number that is not a safe integer is no id',
      'Number.isSafeInteger(id)',
      'Number.isInteger(id)',
    ],
    ['an id is written exactly', 'String(id))', 'String(Number(id)))'],
  ),
  ...of('errors.ts', 'errors', [
    'numbers never change meaning',
    "'id-taken': { error: 1401, status: 400 }",
    "'id-taken': { error: 1402, status: 400 }",
  ]),
  ...of('exact-integer.ts', 'decode-body', [
    'long zeros take linear time',
    "  let end = digits.length;\n  while (digits[end - 1] === '0') end -= 1;\n  return digits.slice(0, end);",
    '  return digits;',
  ]),
  ...of(
    'group-commit.ts',
    'group-commit',
    [
      'a pending result delays no other plant',
      'void settleSeparately(one, result);',
      'await settleSeparately(one, result);',
    ],
    [
      'creates of a turn share a commit',
      '    setImmediate(() => {\n      isScheduled = false;',
      '    queueMicrotask(() => {\n      isScheduled = false;',
    ],
    ['a commit has the deadline of the last plant', 'batch.at(-1)?.deadline', 'batch[0]?.deadline'],
    [
      'the text of a batch is bounded by default',
      'maxBatchText = 2 ** 24,',
      'maxBatchText = 2 ** 30,',
    ],
    [
      'the text of creates is bounded by default',
      'maxWaitingText = 2 ** 28,',
      'maxWaitingText = 2 ** 29,',
    ],
    [
      'a caller cannot change a plant that waits',
      'const copy = copyOf(plant);',
      'const copy = plant;',
    ],
  ),
  ...of('schemas.ts', 'schemas', [
    'a tag that is undefined is absent',
    'tag: z.optional(',
    'tag: z.exactOptional(',
  ]),
];
