// The test projects, and which file belongs to which:
//
//   unit         starts no stack and no Temporal server: the folders of `unitFolders`
//   isolated     the same, each file in a process of its own: the folders of `isolatedFolders`
//   integration  starts real servers and processes: the folders of `realFolders`
//   full         as integration, but too long for `npm test`: files named *.full.test.ts
//   simulation   random simulations of domain/: files named *.property.test.ts
//   chaos        kills processes: test/chaos, one file at a time
//
// `npm test` runs unit and isolated (simulations included, with a fixed seed and 500 runs) and integration. `npm run test:all`
// runs full, chaos, and the simulations with a random seed and 10,000 runs. test/run.ts says what else each of the two runs.
import { configDefaults, defineConfig } from 'vitest/config';

import './test/runner/compile-cache.ts';
import { StacksFirst } from './test/runner/stacks-first.ts';

const unitFolders = 'bench,contracts,domain,schema,store,objects,services,views,api,tidy,mutation,runner';
/** Their tests change state that a process has once: its environment, the runtime of Temporal's SDK. */
const isolatedFolders = 'sdk,cli,platform,workflows,activities';
const realFolders =
  'integration,replay,agent,environment,dask,python,relay,browser,providers,dev,ops,emulator,ec2,clouds,live,security';

const full = ['test/**/*.full.test.ts'];
const chaos = ['test/chaos/**/*.test.ts'];

// Long enough for an error to show the received value: the messages are the only record of a run in CI.
const common = {
  setupFiles: ['./test/support/fuzz-seed.ts'],
  chaiConfig: { truncateThreshold: 2_000 },
  pool: 'forks' as const,
};
const realProcesses = {
  ...common,
  hookTimeout: 180_000,
  testTimeout: 180_000,
  globalSetup: ['./test/support/shared-services.ts'],
};

// Vitest runs projects with different numbers of workers one after the other, and wants to be given their order.
export default defineConfig({
  test: {
    sequence: { sequencer: StacksFirst },
    projects: [
      {
        test: {
          ...common,
          name: 'unit',
          // More than there are cores: half of a file's time is waiting.
          maxWorkers: 3,
          // The files of a worker share their modules: half of the processor time was for loading them again for each file.
          isolate: false,
          include: [`test/{${unitFolders}}/**/*.test.ts`],
          exclude: [...configDefaults.exclude, ...full],
          // Longer than `eventually` waits: its error says more than Vitest's timeout.
          testTimeout: 75_000,
        },
      },
      {
        test: {
          ...common,
          name: 'isolated',
          maxWorkers: 3,
          // Where the CLI runs in the test's process, it prints times of this zone.
          env: { TZ: 'UTC' },
          include: [`test/{${isolatedFolders}}/**/*.test.ts`],
          exclude: [...configDefaults.exclude, ...full],
          testTimeout: 75_000,
        },
      },
      {
        test: {
          ...common,
          name: 'simulation',
          sequence: { groupOrder: 1 },
          maxWorkers: 2,
          include: ['test/domain/**/*.property.test.ts'],
          testTimeout: 600_000,
        },
      },
      {
        test: {
          ...realProcesses,
          name: 'integration',
          sequence: { groupOrder: 2 },
          // More than there are cores: most of a file's time is waiting.
          maxWorkers: 4,
          include: [`test/{${realFolders}}/**/*.test.ts`],
          exclude: [...configDefaults.exclude, ...full],
        },
      },
      {
        test: { ...realProcesses, name: 'full', sequence: { groupOrder: 3 }, maxWorkers: 3, include: full },
      },
      {
        test: {
          ...realProcesses,
          name: 'chaos',
          sequence: { groupOrder: 4 },
          fileParallelism: false,
          include: chaos,
          testTimeout: 300_000,
        },
      },
    ],
  },
});
