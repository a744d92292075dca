// The tests of the Python package that start no Dask cluster, against stand-ins of the API.
import { afterAll, beforeAll, expect, it } from 'vitest';

import { type BuiltPackage, buildPackage, daskTests } from './built-package.ts';

const minutes = 60_000;

let built: BuiltPackage;
beforeAll(async () => {
  built = await buildPackage();
}, 10 * minutes);
afterAll(() => built?.remove());

it(
  'the Python package passes those of its tests that start no Dask cluster',
  async () => {
    const without = daskTests.map((file) => `--ignore=${file}`);
    const { passed, trouble } = await built.pytest(['-m', 'not stack', ...without], {});
    expect(trouble).toEqual([]);
    expect(passed).toBeGreaterThanOrEqual(100);
  },
  15 * minutes,
);
