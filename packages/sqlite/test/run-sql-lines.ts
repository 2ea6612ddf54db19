// Runs each line of standard input, a JSON array of the number of a connection, a database file,
// and a statement or "close". Prints the rows or SQLite's error message as JSON.
import { createInterface } from 'node:readline';
import { Database } from '../src/open/connection.ts';

const connections = new Map<number, Database>();

const run = (connection: number, path: string, sql: string): unknown => {
  const database = connections.get(connection);
  if (sql === 'close') {
    database?.close();
    connections.delete(connection);
    return [];
  }
  try {
    const opened = database ?? new Database(path);
    connections.set(connection, opened);
    return opened.prepare(sql).all();
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : thrown;
  }
};

for await (const line of createInterface(process.stdin)) {
  console.log(JSON.stringify(run(...(JSON.parse(line) as [number, string, string]))));
}
