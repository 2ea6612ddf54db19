import { readFileSync } from 'node:fs';

const root = JSON.parse(readFileSync(new URL('package.json', import.meta.url), 'utf8'));

export const hooks = {
  /** Adds what the root manifest says of the project to the manifest of a packed package. */
  beforePacking(manifest) {
    const { author, homepage, bugs, repository } = root;
    const directory = `packages/${manifest.name.replace('@plantstore/', '')}`;
    return { ...manifest, author, homepage, bugs, repository: { ...repository, directory } };
  },
};
