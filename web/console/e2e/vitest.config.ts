import { defineConfig } from "vitest/config";

// A server and a browser for each file, one test after another: they share two cores with the database.
export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["*.test.ts"],
    globalSetup: "sample.ts",
    fileParallelism: false,
    retry: 1, // a browser beside a database on two cores; what took two tries is reported as such
    testTimeout: 120_000,
    hookTimeout: 180_000,
    expect: { poll: { timeout: 15_000 } }, // a limit for what hangs; what is slow is not what these tests are about
  },
});
