import { join } from 'node:path';
import type { PostgresServer } from '../packages/postgres/test/postgres-server.ts';
import { connectSql } from '../packages/postgres/test/sql-client.ts';

/** Gives new stores. */
export type Stores = {
  /** The path of a file that is not there yet. */
  readonly newFile: () => string;
  /** The URL of a new database, with settings of its sessions if any are given. */
  readonly newDatabase: (settings?: string) => Promise<string>;
};

/** Stores in a folder and on a server, each with a name of its own. */
export const storesIn = (folder: string, { url }: PostgresServer): Stores => {
  let count = 0;
  return {
    newFile: () => {
      count += 1;
      return join(folder, `${count}.db`);
    },
    newDatabase: async (settings = '') => {
      count += 1;
      const name = `plants_${count}`;
      const client = await connectSql(url());
      await client.query(`CREATE DATABASE ${name}`);
      await client.end();
      return settings === '' ? url(name) : `${url(name)}?options=${encodeURIComponent(settings)}`;
    },
  };
};
