// The tests of the Python package that need a running Ropewalk: scaling, package sync, event loops, names, keepalives, errors.
import { afterAll, beforeAll, expect, it } from 'vitest';

import { type BuiltPackage, buildPackage, pytestOnStack } from './built-package.ts';

const minutes = 60_000;
const withoutAws = ['--ignore=tests/test_credentials.py', '--ignore=tests/test_credentials_stack.py'];

let built: BuiltPackage;
beforeAll(async () => {
  built = await buildPackage({ withAws: false });
}, 10 * minutes);
afterAll(() => built?.remove());

it(
  'the Python package passes its tests with a real stack',
  async () => {
    const { passed, trouble } = await pytestOnStack(built, ['-m', 'stack and not full', ...withoutAws]);
    expect(trouble).toEqual([]);
    expect(passed).toBeGreaterThanOrEqual(10);
  },
  15 * minutes,
);
