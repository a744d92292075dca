// The types of the Python package: mypy takes a minute without its cache.
import { afterAll, beforeAll, expect, it } from 'vitest';

import { type BuiltPackage, buildPackage } from './built-package.ts';

const minutes = 60_000;

let built: BuiltPackage;
beforeAll(async () => {
  built = await buildPackage();
}, 5 * minutes);
afterAll(() => built?.remove());

it.each([
  ['the Python of this machine', []],
  ['Python 3.10', ['--python-version', '3.10']],
])(
  'the Python package passes mypy --strict with %s',
  async (_version, more) => {
    const printed = await built.python(['-m', 'mypy', '--cache-dir', `${built.site}-mypy`, ...more]);
    expect(printed).toContain('no issues found');
  },
  5 * minutes,
);
