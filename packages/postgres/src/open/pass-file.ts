// @ts-expect-error -- the package has no types
import pgpass from 'pgpass';
import type { Address, DatabaseUrl } from './database-url.ts';

/** Returns the password from the user's password file, as libpq does, if a line matches. */
export async function readPassFile(
  { host, port }: Address,
  { database, user }: Pick<DatabaseUrl, 'database' | 'user'>,
): Promise<string | undefined> {
  // As in libpq, for a socket in the default folder.
  const name = host.startsWith('/') ? 'localhost' : host;
  return new Promise((resolve) => {
    find({ host: name, port, database, user }, resolve);
  });
}

const find = pgpass as (
  connection: Address & Pick<DatabaseUrl, 'database' | 'user'>,
  resolve: (password: string | undefined) => void,
) => void;
