// Three projects: `unit` is pure and parallel; `integration` and `chaos` start real processes, one file at a time.
import { defineConfig } from 'vitest/config';

const seeded = { setupFiles: ['./test/support/fuzz-seed.ts'] };

const realProcesses = { ...seeded, pool: 'forks', fileParallelism: false, hookTimeout: 180_000 } as const;

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...seeded,
          name: 'unit',
          pool: 'forks',
          include: ['test/{bench,domain,schema,platform,api,sdk,cli,workflows,activities,tidy}/**/*.test.ts'],
          testTimeout: 20_000,
        },
      },
      {
        test: {
          ...realProcesses,
          name: 'integration',
          include: [
            'test/{integration,replay,agent,environment,dask,python,relay,browser,providers,dev,ops,emulator,security}/**/*.test.ts',
          ],
          testTimeout: 180_000,
        },
      },
      {
        test: {
          ...realProcesses,
          name: 'chaos',
          include: ['test/chaos/**/*.test.ts'],
          testTimeout: 300_000,
        },
      },
    ],
  },
});
