// Creates plants, copies and closes the file, and prints the outcomes. Argument: database.
import { backUpPlants, openSqliteRepository } from '@plantstore/sqlite';

const [path = ''] = process.argv.slice(2);
const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
const outcomes: string[] = [];
for (const id of [0n, 1n, 2n]) {
  const created = await repository.create({ id, name: 'Monstera' });
  outcomes.push(created.isOk() ? 'created' : created.error.kind);
}
const copied = await backUpPlants({ from: path, to: `${path}.backup` });
outcomes.push(copied.isOk() ? 'copied' : copied.error.message);
await repository.close();
process.stdout.write(JSON.stringify(outcomes), () => process.exit());
