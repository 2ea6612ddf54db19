import { defineConfig } from 'vitest/config';
import { reporters } from '../../vitest.config.ts';

/** `pnpm test:deploy`: tests with nginx, Caddy and systemd, which `pnpm test` does not need. */
export default defineConfig({
  ssr: {
    resolve: { conditions: ['@plantstore/source', 'module', 'node', 'development|production'] },
  },
  test: { reporters, testTimeout: 60_000, hookTimeout: 60_000 },
});
