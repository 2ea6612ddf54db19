import pg from 'pg';

/** Connects to a server. When the server closes the session, statements reject and the process continues. */
export const connectSql = async (url: string): Promise<pg.Client> => {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => {});
  await client.connect();
  return client;
};
