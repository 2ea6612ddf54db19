import { defineConfig } from 'vitest/config';
import { reporters, testsIn } from '../../vitest.config.ts';

/** `pnpm test:deploy`: tests with nginx, Caddy and systemd, which `pnpm test` does not need. */
export default defineConfig({ test: { reporters, projects: [testsIn('tests/deploy')] } });
