import { startPostgres } from '@plantstore/test-support/postgres-server';

declare module 'vitest' {
  interface ProvidedContext {
    /** Port of the server that all tests share. */
    readonly postgresPort: number;
  }
}

type Project = { readonly provide: (key: 'postgresPort', value: number) => void };

/** Starts the shared server. */
export const setup = async (project: Project): Promise<() => Promise<void>> => {
  const server = await startPostgres();
  project.provide('postgresPort', server.port);
  return server.dispose;
};
