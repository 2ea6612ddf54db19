// @ts-expect-error -- the package has no types
import pgpass from 'pgpass';
import type { Address, DatabaseUrl } from './database-url.ts';

/** Returns the password from the user's password file, as libpq does, if a line matches. */
export async function readPassFile(
  { host, port }: Address,
  { database, user }: Pick<DatabaseUrl, 'database' | 'user'>,
): Promise<string | undefined> {
  const findFor = async (name: string) =>
    new Promise<string | undefined>((resolve) => {
      find({ host: name, port, database, user }, resolve);
    });
  // The folder of sockets that libpq is built with.
  const isDefault = /^(\/tmp|(\/var)?\/run\/postgresql)$/.test(host);
  return (await findFor(host)) ?? (isDefault ? findFor('localhost') : undefined);
}

const find = pgpass as (
  connection: Address & Pick<DatabaseUrl, 'database' | 'user'>,
  resolve: (password: string | undefined) => void,
) => void;
