// The tests that StrykerJS runs against each mutant of domain/: its unit tests and simulations, which start no process. A mutant
// that survives runs every test that reaches it, so tests of sizes, which take seconds each, are left out.
import { configDefaults, defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    setupFiles: ['./test/mutation/setup.ts'],
    include: ['test/domain/**/*.test.ts'],
    exclude: [
      ...configDefaults.exclude,
      ...['cluster/thirty-days.test.ts', 'job/million.property.test.ts', 'job/state-size.test.ts'].map(
        (name) => `test/domain/${name}`,
      ),
    ],
    testTimeout: 60_000,
  },
});
