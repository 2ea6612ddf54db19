// Opens, checks and backs up a database file, and prints the errors as JSON. Arguments: the file, and the copy.
import { backUpPlants, checkPlants, openSqliteRepository } from '@plantstore/sqlite';

const [, , path = '', copy = `${path}.backup`] = process.argv;
const opened = await openSqliteRepository({ path });
if (opened.isOk()) await opened.value.close();
const results = {
  start: opened,
  check: checkPlants(path),
  backup: await backUpPlants({ from: path, to: copy }),
};
const errors = Object.entries(results).map(([name, result]) => [
  name,
  result.isOk() ? 'ok' : `${result.error.kind}: ${result.error.message}`,
]);
process.stdout.write(JSON.stringify(Object.fromEntries(errors)));
