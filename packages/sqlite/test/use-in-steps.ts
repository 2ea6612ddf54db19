// Runs SQL statements on a database, as another program does, closes it at "close", and then kills
// itself with SIGKILL. Arguments: database, JSON array of the steps.
const { DatabaseSync } = process.getBuiltinModule('node:sqlite');

const [path = '', steps = '[]'] = process.argv.slice(2);
const database = new DatabaseSync(path);
for (const step of JSON.parse(steps) as string[]) {
  if (step === 'close') database.close();
  else database.exec(step);
}
process.kill(process.pid, 'SIGKILL');
