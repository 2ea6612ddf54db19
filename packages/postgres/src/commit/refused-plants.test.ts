import { randomBytes } from 'node:crypto';
import { databaseRefusal } from '@plantstore/core/errors';
import { expect, it } from 'vitest';
import { openBehindProxy } from '../../test/behind-proxy.ts';
import { newTable, open } from '../../test/open.ts';
import { emptyDatabase, runSql, sharedUrl } from '../../test/shared-postgres.ts';

const openWith = async (...statements: readonly string[]) => {
  const url = sharedUrl(await emptyDatabase());
  const repository = await open(url);
  await runSql(url, ...statements);
  return { url, repository };
};

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
    const { url, repository } = await openWith(statement);
    const created = await Promise.all(
      Array.from({ length: 50 }, async (__, id) =>
        repository.create({ id: BigInt(id), name: id === 13 ? longName : `n${id}` }),
      ),
    );
    expect(created.flatMap((one, index) => (one.isErr() ? [index] : []))).toEqual([13]);
    expect(created[13]?._unsafeUnwrapErr()).toMatchObject({
      kind: 'plant-refused',
      ...databaseRefusal,
      cause: { code },
    });
    expect(await runSql(url, 'SELECT count(*)::int FROM plants')).toEqual([{ count: 49 }]);
  },
);

it('a plant that was stored before its constraint is created again, and a different one has its id taken', async () => {
  const { url, repository } = await openWith(
    "INSERT INTO plants (id, name, tag) VALUES (7, 'weed', NULL)",
  );
  await runSql(url, "ALTER TABLE plants ADD CHECK (name NOT LIKE 'weed%') NOT VALID");
  expect((await repository.create({ id: 7n, name: 'weed' })).isOk()).toBe(true);
  const kindOf = async (id: bigint, name: string) =>
    (await repository.create({ id, name }))._unsafeUnwrapErr().kind;
  expect(await kindOf(7n, 'weed 2')).toBe('id-taken');
  expect(await kindOf(8n, 'weed')).toBe('plant-refused');
});

const trigger = (body: string) => [
  `CREATE FUNCTION judge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
    IF NEW.name = 'weed' THEN ${body} END IF; RETURN NEW; END $$`,
  'CREATE TRIGGER judge BEFORE INSERT ON plants FOR EACH ROW EXECUTE FUNCTION judge()',
];

it.each([
  ['that raises an exception', "RAISE EXCEPTION 'no weeds';"],
  ['that raises an SQLSTATE of its own', "RAISE EXCEPTION 'no weeds' USING ERRCODE = 'GA001';"],
  ['that raises a code of the server', "RAISE insufficient_privilege USING MESSAGE = 'no weeds';"],
  ['that raises an internal error', "RAISE EXCEPTION 'no weeds' USING ERRCODE = 'XX000';"],
  ...['25006', '53100', '57014', '57P01', '08006'].map((code) => [
    `that raises ${code}, a code of servers that cannot work`,
    `RAISE EXCEPTION 'no weeds' USING ERRCODE = '${code}';`,
  ]),
  ['with an assertion', "ASSERT false, 'no weeds';"],
  ['that discards the row', 'RETURN NULL;'],
])(
  'a plant that a trigger %s does not accept is refused with 4000, alone and in a batch',
  async (_, body) => {
    const { url, repository } = await openWith(...trigger(body));
    const weed = await repository.create({ id: -1n, name: 'weed' });
    expect(weed._unsafeUnwrapErr()).toMatchObject({ kind: 'plant-refused', error: 4000 });
    const created = await Promise.all(
      Array.from({ length: 50 }, async (__, id) =>
        repository.create({ id: BigInt(id), name: id === 13 ? 'weed' : `n${id}` }),
      ),
    );
    expect(created.flatMap((one, id) => (one.isErr() ? [[id, one.error.kind]] : []))).toEqual([
      [13, 'plant-refused'],
    ]);
    expect(await runSql(url, 'SELECT count(*)::int FROM plants')).toEqual([{ count: 49 }]);
  },
);

it.each([
  ["EXECUTE 'SELECT ' || NEW.name || ' FROM nowhere';", /nowhere/],
  ['INSERT INTO secret VALUES (1);', /permission denied for table secret/],
])(
  'a plant for which a trigger has a fault is store-unavailable, and the others of its batch are stored: %s',
  async (body, reason) => {
    const { direct, url } = await newTable();
    await runSql(direct, 'CREATE TABLE secret (x int)', ...trigger(body));
    const repository = await open(url);
    const names = Array.from({ length: 64 }, (_, id) => (id === 13 ? 'weed' : `n${id}`));
    const created = await Promise.all(
      names.map(async (name, id) => repository.create({ id: BigInt(id), name })),
    );
    expect(created.flatMap((one, id) => (one.isErr() ? [[id, one.error]] : []))).toEqual([
      [
        13,
        expect.objectContaining({
          kind: 'store-unavailable',
          reason: expect.stringMatching(reason) as unknown,
        }),
      ],
    ]);
    expect(await runSql(direct, 'SELECT count(*)::int FROM plants')).toEqual([{ count: 63 }]);
  },
);

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
    const created = await Promise.all(
      [2n ** 40n, 2n ** 41n].map(async (id) => repository.create({ id, name: 'x' })),
    );
    expect(created.map((one) => one._unsafeUnwrapErr().kind)).toEqual(
      Array(2).fill('store-unavailable'),
    );
  },
);

it('a batch fails after a few statements when a trigger has a fault for every plant', async () => {
  const { direct, url } = await newTable();
  await runSql(
    direct,
    'CREATE SEQUENCE tries',
    `CREATE FUNCTION judge() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
      PERFORM nextval('tries'); EXECUTE 'SELECT nowhere'; RETURN NEW; END $$`,
    'GRANT USAGE ON SEQUENCE tries TO PUBLIC',
    'CREATE TRIGGER judge BEFORE INSERT ON plants FOR EACH STATEMENT EXECUTE FUNCTION judge()',
  );
  const repository = await open(url);
  const created = await Promise.all(
    Array.from({ length: 512 }, async (_, id) => repository.create({ id: BigInt(id), name: 'x' })),
  );
  const kinds = created.map((one) => one._unsafeUnwrapErr().kind);
  expect(kinds).toEqual(kinds.map(() => 'store-unavailable'));
  const [{ tries } = {}] = await runSql(direct, 'SELECT last_value::int AS tries FROM tries');
  expect(tries).toBeLessThan(50);
});

it('a create is repeated when a trigger raises a serialization failure', async () => {
  const { repository } = await openWith(
    'CREATE SEQUENCE tries',
    ...trigger(
      "IF nextval('tries') < 3 THEN RAISE EXCEPTION 'again' USING ERRCODE = '40001'; END IF;",
    ),
  );
  expect((await repository.create({ id: 1n, name: 'weed' })).isOk()).toBe(true);
});

it('plants that a constraint refuses take at most two statements each, and the others of their batch are stored', async () => {
  const { proxy, direct, repository } = await openBehindProxy();
  await runSql(
    direct,
    "INSERT INTO plants VALUES (-1, 'old weed')",
    "ALTER TABLE plants ADD CHECK (name NOT LIKE '%weed') NOT VALID",
  );
  const before = proxy.statements.length;
  const names = [
    'old weed',
    ...Array.from({ length: 512 }, (_, id) => (id < 500 ? 'weed' : 'ivy')),
  ];
  const created = await Promise.all(
    names.map(async (name, n) => repository.create({ id: BigInt(n - 1), name })),
  );
  expect(created.map((one) => (one.isOk() ? 'ok' : one.error.kind))).toEqual(
    names.map((name) => (name === 'weed' ? 'plant-refused' : 'ok')),
  );
  expect(proxy.statements.length - before).toBeLessThan(1_100);
  expect(await runSql(direct, 'SELECT count(*)::int FROM plants')).toEqual([{ count: 13 }]);
});

it.each([
  [
    'is refused',
    "RAISE EXCEPTION 'no weeds';",
    ['plant-refused', 'plant-refused', 'ok', 'id-taken'],
  ],
  [
    'meets a fault of a trigger',
    "EXECUTE 'SELECT nowhere';",
    ['store-unavailable', 'store-unavailable'],
  ],
])(
  'a plant that exists has its result in a batch in which another one %s, and the first of two with one id is stored',
  async (_, body, kinds) => {
    const { repository } = await openWith(...trigger(body), "INSERT INTO plants VALUES (0, 'x')");
    const plants = ['x', 'weed', 'weed', 'ivy', 'fig'].slice(0, kinds.length + 1);
    const created = await Promise.all(
      plants.map(async (name, n) => repository.create({ id: BigInt(Math.min(n, 3)), name })),
    );
    expect(created.map((one) => (one.isOk() ? 'ok' : one.error.kind))).toEqual(['ok', ...kinds]);
  },
);

it('a plant is stored after a trigger has discarded another one with its id in the same batch', async () => {
  const { repository } = await openWith(...trigger('RETURN NULL;'));
  const created = await Promise.all(
    ['weed', 'ivy', 'ivy', 'fig'].map(async (name) => repository.create({ id: 7n, name })),
  );
  expect(created.slice(1).map((one) => (one.isOk() ? 'ok' : one.error.kind))).toEqual([
    'ok',
    'ok',
    'id-taken',
  ]);
});
