import { randomBytes } from 'node:crypto';
import { databaseRefusal } from '@plantstore/core/errors';
import { expect, it } from 'vitest';
import { openBehindProxy, outcomesOf } from '../../test/behind-proxy.ts';
import { runSql } from '../../test/shared-postgres.ts';

const openWith = async (...statements: readonly string[]) => {
  const { direct, repository, proxy } = await openBehindProxy();
  await runSql(direct, ...statements);
  return { direct, repository, proxy };
};

/** A batch of plants, of which the 13th has another name. */
const batchWith = (name: string) =>
  Array.from({ length: 50 }, (_, id) => ({ id: BigInt(id), name: id === 13 ? name : `n${id}` }));
const outcomesWith = (kind: string) => batchWith('').map(({ id }) => (id === 13n ? kind : 'ok'));

/** A name of 20 kB that an index cannot compress. */
const longName = `weed ${randomBytes(10_000).toString('hex')}`;

it.each([
  ['a CHECK', 'ALTER TABLE plants ADD CHECK (length(name) < 5000)', '23514'],
  ['the entry limit of an index', 'CREATE INDEX ON plants (name)', '54000'],
  ['the type of a column', 'ALTER TABLE plants ALTER name TYPE varchar(10)', '22001'],
  [
    'an expression of an index',
    `CREATE INDEX ON plants ((CASE WHEN name LIKE 'weed%' THEN name::int END))`,
    '22P02',
  ],
])(
  'a plant that %s does not accept is refused with 4000 and the cause, and the others of its batch are stored',
  async (_, statement, code) => {
    const { repository } = await openWith(statement);
    expect(await outcomesOf(repository, batchWith(longName))).toEqual(
      outcomesWith('plant-refused'),
    );
    const refused = await repository.create({ id: 13n, name: longName });
    expect(refused._unsafeUnwrapErr()).toMatchObject({ ...databaseRefusal, cause: { code } });
  },
);

const trigger = (body: string) => [
  `CREATE FUNCTION judge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.name = 'weed' THEN ${body} END IF; RETURN NEW; END $$`,
  'CREATE TRIGGER judge BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION judge()',
];

it.each([
  ['has an assertion', "ASSERT false, 'no weeds';"],
  ['discards the row', 'RETURN NULL;'],
])('a plant for which a trigger %s is refused with 4000', async (_, body) => {
  const { repository } = await openWith(...trigger(body));
  expect(await outcomesOf(repository, batchWith('weed'))).toEqual(outcomesWith('plant-refused'));
});

it('plants for which a trigger raises an exception are refused with 4000, whatever its SQLSTATE', async () => {
  const { repository } = await openWith(
    ...trigger("RAISE EXCEPTION 'no weeds' USING ERRCODE = NEW.tag;"),
  );
  const codes = ['P0001', 'GA001', '42501', 'XX000', '25006', '53100', '57014', '57P01', '08006'];
  const weeds = codes.map((tag, id) => ({ id: BigInt(id - 9), name: 'weed', tag }));
  expect(await outcomesOf(repository, [...weeds, ...batchWith('ivy')])).toEqual([
    ...weeds.map(() => 'plant-refused'),
    ...outcomesWith('ok'),
  ]);
});

it('a plant that a trigger changes is id-taken, each time', async () => {
  const { repository } = await openWith(...trigger("NEW.name := 'ivy';"));
  for (const _ of ['first', 'again'])
    expect(await outcomesOf(repository, batchWith('weed'))).toEqual(outcomesWith('id-taken'));
});

it('a plant for which a trigger has a fault is store-unavailable with its words, and the others of its batch are stored', async () => {
  const { proxy, repository } = await openWith(...trigger("EXECUTE 'SELECT nowhere';"));
  expect(await outcomesOf(repository, batchWith('weed'))).toEqual(
    outcomesWith('store-unavailable'),
  );
  // The plant is found by halves.
  expect(proxy.statements.length).toBeLessThan(20);
  expect((await repository.create({ id: 13n, name: 'weed' }))._unsafeUnwrapErr()).toMatchObject({
    reason: expect.stringContaining('nowhere') as unknown,
  });
});

it.each([
  ['its id column is integer', 'ALTER TABLE plants ALTER id TYPE int'],
  [
    'a sequence is exhausted',
    'ALTER TABLE plants ADD number int GENERATED ALWAYS AS IDENTITY (MAXVALUE 2)',
    "INSERT INTO plants VALUES (1, 'a'), (2, 'b')",
  ],
])(
  'a plant is store-unavailable when the table accepts no plant like it because %s',
  async (_, ...statements) => {
    const { repository } = await openWith(...statements);
    const plants = [40n, 41n].map((exponent) => ({ id: 2n ** exponent, name: 'x' }));
    expect(await outcomesOf(repository, plants)).toEqual(Array(2).fill('store-unavailable'));
  },
);

it('a batch fails after a few statements when a trigger has a fault for every plant', async () => {
  const { proxy, repository } = await openWith(
    ...trigger("END IF; EXECUTE 'SELECT nowhere'; IF true THEN"),
  );
  const plants = Array.from({ length: 512 }, (_, id) => ({ id: BigInt(id), name: 'x' }));
  expect(new Set(await outcomesOf(repository, plants))).toEqual(new Set(['store-unavailable']));
  expect(proxy.statements.length).toBeLessThan(50);
});

it('plants that a constraint refuses take at most two statements each, and the others of their batch are stored', async () => {
  const { proxy, repository } = await openWith(
    "INSERT INTO plants VALUES (0, 'old weed')",
    "ALTER TABLE plants ADD CHECK (name NOT LIKE '%weed') NOT VALID",
  );
  const names = Array.from({ length: 64 }, (_, id) => (id < 56 ? 'weed' : 'ivy'));
  const plants = ['old weed', ...names].map((name, id) => ({ id: BigInt(id), name }));
  expect(await outcomesOf(repository, plants)).toEqual([
    'ok',
    ...names.map((name) => (name === 'weed' ? 'plant-refused' : 'ok')),
  ]);
  expect(proxy.statements.length).toBeLessThan(2 * plants.length + 20);
  const taken = { id: 0n, name: 'other weed' };
  expect(await outcomesOf(repository, [taken])).toEqual(['id-taken']);
});

it('plants that a trigger refuses are no reason to fail the others when it has a fault for one plant after them', async () => {
  const { repository } = await openWith(
    ...trigger(
      "RAISE EXCEPTION 'no weeds'; END IF; IF NEW.name = 'fern' THEN EXECUTE 'SELECT nowhere';",
    ),
  );
  const names = [...Array<string>(48).fill('weed'), 'fern', ...Array<string>(15).fill('ivy')];
  const kinds = new Map([
    ['weed', 'plant-refused'],
    ['fern', 'store-unavailable'],
  ]);
  const plants = names.map((name, id) => ({ id: BigInt(id), name }));
  expect(await outcomesOf(repository, plants)).toEqual(
    names.map((name) => kinds.get(name) ?? 'ok'),
  );
});

it.each([
  ["RAISE EXCEPTION 'no weeds';", ['plant-refused', 'plant-refused', 'ok', 'id-taken']],
  ["EXECUTE 'SELECT nowhere';", ['store-unavailable', 'store-unavailable']],
  ['RETURN NULL;', ['plant-refused', 'plant-refused', 'ok', 'id-taken']],
])(
  'a plant that exists has its result beside one that fails, and the first of two with one id is stored: %s',
  async (body, kinds) => {
    const { repository } = await openWith(...trigger(body), "INSERT INTO plants VALUES (0, 'x')");
    const names = ['x', 'weed', 'weed', 'ivy', 'fig'].slice(0, kinds.length + 1);
    const plants = names.map((name, n) => ({ id: BigInt(Math.min(n, 3)), name }));
    expect(await outcomesOf(repository, plants)).toEqual(['ok', ...kinds]);
  },
);

it('a plant is stored whose id another program frees between the insert and the read', async () => {
  const { repository } = await openWith(
    "INSERT INTO plants VALUES (13, 'old')",
    `CREATE FUNCTION weed_out() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN DELETE FROM plants WHERE name = 'old'; RETURN NULL; END $$`,
    'CREATE TRIGGER weed_out AFTER INSERT ON plants EXECUTE FUNCTION weed_out()',
  );
  expect(await outcomesOf(repository, batchWith('new'))).toEqual(outcomesWith('ok'));
});

it('a plant is stored after a trigger has discarded another one with its id in the same batch', async () => {
  const { repository } = await openWith(...trigger('RETURN NULL;'));
  const plants = ['weed', 'ivy', 'ivy', 'fig'].map((name) => ({ id: 7n, name }));
  expect((await outcomesOf(repository, plants)).slice(1)).toEqual(['ok', 'ok', 'id-taken']);
});
