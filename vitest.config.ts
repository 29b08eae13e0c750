import { defineConfig } from 'vitest/config'

export default defineConfig({
  test: {
    include: ['src/**/*.test.ts', 'test/**/*.test.ts', 'bench/**/*.test.js'],
    globalSetup: ['test/postgres.ts'],
    pool: 'forks',
    maxWorkers: 2,
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // A first start of the embedded database computes for seconds on the main thread.
    teardownTimeout: 20_000,
  },
})
