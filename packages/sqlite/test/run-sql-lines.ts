// Runs each line of standard input as an SQL statement, and prints its rows or SQLite's error message as JSON.
// Argument: database file.
import { createInterface } from 'node:readline';
import { Database } from '../src/node-sqlite.ts';

const database = new Database(process.argv[2] ?? '');

const run = (sql: string): unknown => {
  try {
    return database.prepare(sql).all();
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : thrown;
  }
};

for await (const sql of createInterface(process.stdin)) console.log(JSON.stringify(run(sql)));
database.close();
