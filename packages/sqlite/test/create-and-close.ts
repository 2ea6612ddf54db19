// Creates plants, copies and closes the file, and prints the outcomes. Arguments: file, plants.
import { backUpPlants, openSqliteRepository } from '@plantstore/sqlite';
import { skipReopenPause } from './skip-reopen-pause.ts';

const [path = '', count] = process.argv.slice(2);
const outcomes: string[] = [];
const repository = (await openSqliteRepository({ path }))._unsafeUnwrap();
for (let id = 0n; id < BigInt(count ?? 1); id += 1n) {
  const created = await repository.create({ id, name: 'Monstera' });
  outcomes.push(created.isOk() ? 'created' : created.error.kind);
  skipReopenPause();
}
const copied = await backUpPlants({ from: path, to: `${path}.backup` });
outcomes.push(copied.isOk() ? 'copied' : copied.error.message);
await repository.close();
process.stdout.write(JSON.stringify(outcomes), () => process.exit());
