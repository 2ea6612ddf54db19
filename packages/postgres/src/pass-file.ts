// @ts-expect-error -- the package has no types
import pgpass from 'pgpass';
import type { Address, DatabaseUrl } from './database-url.ts';

type Connection = Address & Pick<DatabaseUrl, 'database' | 'user'>;

const find = pgpass as (
  connection: Connection,
  resolve: (password: string | undefined) => void,
) => void;

/** Looks the password up in the user's pass file, as libpq does; `undefined` where there is none. */
export const readPassFile = async (
  { host, port }: Address,
  { database, user }: Pick<DatabaseUrl, 'database' | 'user'>,
): Promise<string | undefined> => {
  const findFor = async (name: string) =>
    new Promise<string | undefined>((resolve) => {
      find({ host: name, port, database, user }, resolve);
    });
  // libpq calls a socket in its usual folder localhost, and any other by its folder.
  return (await findFor(host)) ?? (host.startsWith('/') ? findFor('localhost') : undefined);
};
