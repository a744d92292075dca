// Three projects: `unit` is pure and parallel; `integration` starts real processes, three files at a time, since they mostly
// wait; `chaos`, which kills and measures, has the machine for itself.
import { defineConfig } from 'vitest/config';

// Long enough to say what was found instead: the messages are all that is left of a run that nobody watched.
const seeded = { setupFiles: ['./test/support/fuzz-seed.ts'], chaiConfig: { truncateThreshold: 2_000 } };

const realProcesses = { ...seeded, pool: 'forks', hookTimeout: 180_000 } as const;

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          ...seeded,
          name: 'unit',
          pool: 'forks',
          maxWorkers: 2,
          include: [
            'test/{bench,domain,schema,platform,api,sdk,cli,workflows,activities,tidy}/**/*.test.ts',
            'test/store/sqlite.test.ts',
          ],
          // Longer than a condition is waited for: what did not come true says more than that a test took too long.
          testTimeout: 75_000,
        },
      },
      {
        test: {
          ...realProcesses,
          name: 'integration',
          maxWorkers: 3,
          include: [
            'test/{integration,replay,agent,environment,dask,python,relay,browser,providers,dev,ops,emulator,ec2,live,security}/**/*.test.ts',
            'test/store/{postgres,kill}.test.ts',
          ],
          testTimeout: 180_000,
        },
      },
      {
        test: {
          ...realProcesses,
          name: 'chaos',
          fileParallelism: false,
          include: ['test/chaos/**/*.test.ts'],
          testTimeout: 300_000,
        },
      },
    ],
  },
});
