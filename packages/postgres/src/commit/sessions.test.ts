import { expect, it } from 'vitest';
import { noLimits } from '../../test/open.ts';
import { type PostgresProxy, startProxy } from '../../test/postgres-proxy.ts';
import { emptyDatabase, sharedUrl } from '../../test/shared-postgres.ts';
import { Servers } from '../open/connect.ts';
import { Sessions } from './sessions.ts';

type End = (work: PromiseWithResolvers<void>, proxy: PostgresProxy) => void;

const lose: End = ({ reject }) => reject(new Error('no response'));

it.each<[string, string[], End]>([
  ['uses another connection', ['fulfilled', 'fulfilled', 'fulfilled'], ({ resolve }) => resolve()],
  ['waits for it, since the others are lost', ['rejected', 'rejected', 'fulfilled'], lose],
  [
    'waits for it, and it is refused',
    ['rejected', 'rejected', 'rejected'],
    (work, proxy) => {
      proxy.refuse(true);
      lose(work, proxy);
    },
  ],
])(
  'sessions that are closed while a connection is opened for the last work, which %s, keep none',
  async (_, outcomes, end) => {
    const proxy = await startProxy();
    const url = `${proxy.through(sharedUrl(await emptyDatabase()))}?sslmode=disable`;
    const servers = new Servers({ url, ...noLimits });
    const { session } = (await servers.connect())._unsafeUnwrap();
    const sessions = new Sessions(session, servers);
    const work = Promise.withResolvers<void>();
    const first = sessions.use(async () => work.promise);
    // Gets the second connection. Both works end before the third one, which then begins, is open.
    const second = sessions.use(async () => {
      end(work, proxy);
      return work.promise;
    });
    const last = sessions.use(async () => {});
    const settled = Promise.allSettled([first, second, last]);
    await sessions.close();
    expect((await settled).map(({ status }) => status)).toEqual(outcomes);
    expect(proxy.connections()).toBe(3);
    await expect.poll(proxy.openConnections).toBe(0);
  },
);
