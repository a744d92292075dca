// The tests of the Python package that start Dask clusters, against stand-ins of the API.
import { afterAll, beforeAll, expect, it } from 'vitest';

import { type BuiltPackage, buildPackage, daskTests } from './built-package.ts';

const minutes = 60_000;

let built: BuiltPackage;
beforeAll(async () => {
  built = await buildPackage();
}, 10 * minutes);
afterAll(() => built?.remove());

it(
  'the Python package passes its tests of Dask clusters',
  async () => {
    const { passed, trouble } = await built.pytest(['-m', 'not stack', ...daskTests], {});
    expect(trouble).toEqual([]);
    expect(passed).toBeGreaterThanOrEqual(150);
  },
  15 * minutes,
);
