// Where the peers on Node keep plants, as the pages of better-sqlite3 and pg show it: a statement, and
// a commit, for each request. Their ids are JavaScript numbers, as JSON.parse gives them: digits
// beyond 2^53 are lost, or refused by those that validate with zod. Ours keeps them.

const openSqlite = async (path) => {
  const { default: Database } = await import('better-sqlite3');
  const database = new Database(path);
  database.pragma('journal_mode = WAL');
  // In WAL mode its own default is NORMAL, which loses what a power cut comes upon.
  database.pragma('synchronous = FULL');
  database.exec('CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT)');
  const insert = database.prepare(
    'INSERT INTO plants (id, name, tag) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
  );
  const findSame = database.prepare('SELECT 1 FROM plants WHERE id = ? AND name = ? AND tag IS ?');
  return ({ id, name, tag = null }) =>
    insert.run(id, name, tag).changes === 1 || findSame.get(id, name, tag) !== undefined;
};

const openPostgres = async (connectionString) => {
  const { default: pg } = await import('pg');
  // At most 10 connections, its default.
  const pool = new pg.Pool({ connectionString });
  // Without a listener, an idle connection that is lost would end the process.
  pool.on('error', () => {});
  await pool.query('CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)');
  return async ({ id, name, tag = null }) => {
    const inserted = await pool.query(
      'INSERT INTO plants (id, name, tag) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING',
      [id, name, tag],
    );
    if (inserted.rowCount === 1) return true;
    const same = await pool.query(
      'SELECT 1 FROM plants WHERE id = $1 AND name = $2 AND tag IS NOT DISTINCT FROM $3',
      [id, name, tag],
    );
    return same.rowCount === 1;
  };
};

/** Gives the function that keeps a plant, and tells whether it is kept: else its id is taken. */
export const openStore = async (database) =>
  database.startsWith('postgres:') ? openPostgres(database) : openSqlite(database);

/** The answer where another plant has the id; those to other faults are each framework's own. */
export const idTaken = { error: 1401, message: 'another plant has this id' };
