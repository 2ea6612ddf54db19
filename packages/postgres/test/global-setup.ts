import { startPostgres } from '@plantstore/test-support/postgres-server';
import type { ProvidedContext } from 'vitest';

declare module 'vitest' {
  interface ProvidedContext {
    /** Port of the server that all tests share. */
    readonly postgresPort: number;
    /** Folder of its Unix-domain socket. */
    readonly postgresFolder: string;
  }
}

type Project = {
  readonly provide: <K extends keyof ProvidedContext>(key: K, value: ProvidedContext[K]) => void;
};

/** Starts the shared server. Its autovacuum would start a process a second for so many databases. */
export const setup = async (project: Project): Promise<() => Promise<void>> => {
  const server = await startPostgres('autovacuum = off');
  project.provide('postgresPort', server.port);
  project.provide('postgresFolder', server.folder);
  return server.dispose;
};
