// The tests that StrykerJS runs against each mutant of domain/: its unit tests and simulations, which start no process.
import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    setupFiles: ['./test/mutation/setup.ts'],
    include: ['test/domain/**/*.test.ts'],
    testTimeout: 60_000,
  },
});
