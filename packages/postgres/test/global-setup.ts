import { startPostgres } from '@plantstore/test-support/postgres-server';

declare module 'vitest' {
  interface ProvidedContext {
    /** The port of the server that the whole test run shares. */
    readonly postgresPort: number;
  }
}

type Project = { readonly provide: (key: 'postgresPort', value: number) => void };

/** Starts the server that the tests share. */
export const setup = async (project: Project): Promise<() => Promise<void>> => {
  const server = await startPostgres();
  project.provide('postgresPort', server.port);
  return server.dispose;
};
