import { defineConfig } from "vitest/config";

const rooms = [
  "packages/core",
  "packages/sqlite",
  "packages/server",
  "packages/client",
  "examples",
  "tests",
];

export default defineConfig({
  test: {
    projects: rooms.map((room) => ({
      root: room,
      // Workspace packages resolve to their sources, so that no test needs a build.
      ssr: {
        resolve: {
          conditions: [
            "@plantstore/source",
            "module",
            "node",
            "development|production",
          ],
        },
      },
      test: {
        name: room,
        typecheck: { enabled: true, tsconfig: "../../tsconfig.json" },
      },
    })),
    coverage: {
      provider: "v8",
      include: ["packages/*/src/**/*.ts"],
      exclude: ["**/*.test.ts", "**/*.test-d.ts"],
      reporter: ["text-summary"],
    },
  },
});
