// Another program that uses a database (the first argument): it runs each line of its standard input, and prints
// what became of it as JSON: the rows, or SQLite's message.
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
