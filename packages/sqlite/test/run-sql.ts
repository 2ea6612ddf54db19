// Runs a statement, and prints its rows or SQLite's error message as JSON. Arguments: database, SQL.
const { DatabaseSync } = process.getBuiltinModule('node:sqlite');

const [path = '', sql = ''] = process.argv.slice(2);
const database = new DatabaseSync(path);
try {
  console.log(JSON.stringify(database.prepare(sql).all()));
} catch (thrown) {
  console.log(JSON.stringify((thrown as Error).message));
}
