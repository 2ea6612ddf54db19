// Runs statements on a SQLite database that exists, and others once standard input has ended.
import { DatabaseSync } from 'node:sqlite';

const [path, begin = '', last = ''] = process.argv.slice(2);
const database = new DatabaseSync(`file:${path}?mode=rw`, { timeout: 5_000 });
console.log('open');
database.exec(begin);
console.log('begun');
process.stdin.resume().once('end', () => database.exec(last));
