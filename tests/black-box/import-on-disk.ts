// Imports a file, and appends the numbers of its plants to the file "acknowledged" once the command has succeeded.
// Arguments: database file, file to import, number of its plants.
import { appendFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runCommand } from '../../packages/plantstore/src/commands/run-command.ts';

const [path = '', input = '', count = ''] = process.argv.slice(2);
const { stdin, stdout, stderr } = process;
const streams = { stdin: () => stdin, stdout, stderr };
const status = await runCommand(['import', input, '--database', `sqlite:${path}`], {}, streams);
if (status === 0) {
  const numbers = Array.from({ length: Number(count) }, (_, number) => `${number}\n`);
  appendFileSync(join(dirname(path), 'acknowledged'), numbers.join(''));
}
process.exit(status);
