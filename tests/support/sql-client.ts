import pg from 'pg';

/** Connects to a server. A session that the server ends fails its statements and not the process. */
export const connectSql = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return client;
};
