// Runs steps on a database, as other programs do, and then kills itself with SIGKILL. Arguments:
// database file, JSON array of steps. A step is an SQL statement, "close", "backup FILE" to copy a
// file over the database with the backup API, or "reader: SQL" for a second connection.
const { backup, DatabaseSync } = process.getBuiltinModule('node:sqlite');

const [path = '', steps = '[]'] = process.argv.slice(2);
const database = new DatabaseSync(path);
const reader = new DatabaseSync(path);

for (const step of JSON.parse(steps) as string[]) {
  if (step === 'close') {
    reader.close();
    database.close();
  } else if (step.startsWith('reader: ')) reader.prepare(step.slice('reader: '.length)).all();
  else if (step.startsWith('backup ')) {
    const source = new DatabaseSync(step.slice('backup '.length));
    await backup(source, path);
    source.close();
  } else database.exec(step);
}
process.kill(process.pid, 'SIGKILL');
