// Elysia on Bun, with TypeBox and bun:sqlite. Ids are JavaScript numbers: digits beyond 2^53 are lost.
import { Database } from 'bun:sqlite';
import { bearer } from '@elysiajs/bearer';
import { Elysia, t } from 'elysia';

const database = new Database(process.argv[2]);
database.run('PRAGMA journal_mode = WAL');
database.run('PRAGMA synchronous = FULL');
database.run('CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT)');
const insert = database.query(
  'INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
);
const findSame = database.query('SELECT 1 FROM plants WHERE id = ? AND name = ? AND tag IS ?');

const keep = ({ id, name, tag = null }) =>
  insert.run(id, name, tag).changes === 1 || findSame.get(id, name, tag) !== null;

new Elysia()
  .use(bearer())
  // Its own status for this is 422.
  .onError(({ code, error, status }) =>
    code === 'VALIDATION' ? status(400, { error: 1000, message: error.message }) : undefined,
  )
  .post(
    '/plants',
    ({ body, status }) => {
      if (!keep(body)) return status(400, { error: 1401, message: 'another plant has this id' });
      return { name: body.name, tag: body.tag };
    },
    {
      body: t.Object({ id: t.Integer(), name: t.String(), tag: t.Optional(t.String()) }),
      beforeHandle({ bearer: token, status }) {
        if (token === process.env.TOKEN) return;
        return status(401, { error: 2401, message: 'a bearer token is needed' });
      },
    },
  )
  .listen({ port: Number(process.env.PORT), hostname: '127.0.0.1' });
