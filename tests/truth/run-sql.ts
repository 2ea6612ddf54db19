// Runs each line of standard input on a database that exists, and prints "ok" or SQLite's error message.
import { createInterface } from 'node:readline';
import { DatabaseSync } from 'node:sqlite';

const database = new DatabaseSync(`file:${process.argv[2]}?mode=rw`);
database.exec('PRAGMA busy_timeout = 5000');
for await (const line of createInterface(process.stdin)) {
  try {
    database.exec(line);
    console.log('ok');
  } catch (thrown) {
    console.log(String(thrown).replaceAll('\n', ' '));
  }
}
