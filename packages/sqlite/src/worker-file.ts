/** Returns the program of a worker thread, which is beside this file, as TypeScript source or as build output. */
export const workerFile = (name: 'backup' | 'commit'): URL =>
  new URL(`./${name}-worker.${import.meta.url.endsWith('.ts') ? 'ts' : 'js'}`, import.meta.url);
