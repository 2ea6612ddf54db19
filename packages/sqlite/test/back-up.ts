// Backs up a database. Arguments: database, copy.
import { backUpPlants } from '@plantstore/sqlite';

const [, , from = '', to = ''] = process.argv;
(await backUpPlants({ from, to }))._unsafeUnwrap();
