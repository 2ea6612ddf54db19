// The stores of the peers. Ids are JavaScript numbers, as JSON.parse returns them: above 2^53
// they lose digits, or the peers that validate with zod reject them. Plantstore stores them exactly.

const openMemory = () => {
  const plants = new Map();
  return ({ id, name, tag }) => {
    const stored = plants.get(id) ?? { name, tag };
    plants.set(id, stored);
    return stored.name === name && stored.tag === tag;
  };
};

// Both drivers have these methods. Each create is a separate transaction.
const openSqlite = (Database, path) => {
  const database = new Database(path);
  // In WAL mode, the default of better-sqlite3 is NORMAL, which can lose commits in a power cut.
  database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  database.exec('CREATE TABLE plants (id INTEGER PRIMARY KEY, name TEXT NOT NULL, tag TEXT)');
  const insert = database.prepare('INSERT INTO plants VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
  const findSame = database.prepare('SELECT 1 FROM plants WHERE id = ? AND name = ? AND tag IS ?');
  const create = ({ id, name, tag = null }) =>
    insert.run(id, name, tag).changes === 1 || findSame.get(id, name, tag) !== undefined;
  return { database, create };
};

// Group commit: the creates of one iteration of the event loop share a transaction.
const openGroupCommit = async (path) => {
  const { DatabaseSync } = await import('node:sqlite');
  const { database, create } = openSqlite(DatabaseSync, path);
  let group = [];
  const commit = () => {
    const creates = group;
    group = [];
    try {
      database.exec('BEGIN IMMEDIATE');
      const stored = creates.map(({ plant }) => create(plant));
      database.exec('COMMIT');
      for (const [at, { resolve }] of creates.entries()) resolve(stored[at]);
    } catch (error) {
      if (database.isTransaction) database.exec('ROLLBACK');
      for (const { reject } of creates) reject(error);
    }
  };
  return async (plant) =>
    new Promise((resolve, reject) => {
      if (group.push({ plant, resolve, reject }) === 1) setImmediate(commit);
    });
};

const openPostgres = async (connectionString) => {
  const { default: pg } = await import('pg');
  // At most 10 connections, its default.
  const pool = new pg.Pool({ connectionString });
  await pool.query('CREATE TABLE plants (id bigint PRIMARY KEY, name text NOT NULL, tag text)');
  const insert = 'INSERT INTO plants VALUES ($1, $2, $3) ON CONFLICT DO NOTHING';
  const findSame =
    'SELECT 1 FROM plants WHERE id = $1 AND name = $2 AND tag IS NOT DISTINCT FROM $3';
  return async ({ id, name, tag = null }) =>
    (await pool.query(insert, [id, name, tag])).rowCount === 1 ||
    (await pool.query(findSame, [id, name, tag])).rowCount === 1;
};

/** Opens a store. Returns a function that creates a plant: false when another plant has its id. */
export const openStore = async (database) => {
  if (database === 'memory') return openMemory();
  if (database.startsWith('postgres:')) return openPostgres(database);
  if (database.startsWith('group-commit:')) return openGroupCommit(database.slice(13));
  const { default: Database } = await import('better-sqlite3');
  return openSqlite(Database, database).create;
};

/** Body of the response when another plant has the id. Other errors have the format of each framework. */
export const idTaken = { error: 1401, message: 'another plant has this id' };
