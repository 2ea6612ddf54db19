import { createRequire } from 'node:module';

export function version(): string {
  // By its name, because the build puts this file into another folder.
  const manifest: unknown = createRequire(import.meta.url)('plantstore/package.json');
  return (manifest as { version: string }).version;
}
