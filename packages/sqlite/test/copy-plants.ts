// Backs up or restores, and prints the error, if any.
// Arguments: "backup" or "restore", the source, the copy.
import { backUpPlants, restorePlants } from '@plantstore/sqlite';

const [, , command, from = '', to = ''] = process.argv;
const copied = await (command === 'backup' ? backUpPlants : restorePlants)({ from, to });
if (copied.isErr()) process.stdout.write(JSON.stringify(copied.error));
