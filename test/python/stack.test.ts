// The Python package with a running Ropewalk, on the shared stack: a cluster and jobs. stack.full.test.ts has all of it.
import { afterAll, beforeAll, expect, it } from 'vitest';

import { type BuiltPackage, buildPackage, pytestOnStack } from './built-package.ts';

const minutes = 60_000;
const chosen = ['tests/test_stack.py::test_from_start_to_end', 'tests/test_batch_stack.py', 'tests/test_cli_stack.py'];

let built: BuiltPackage;
beforeAll(async () => {
  built = await buildPackage({ withAws: false });
}, 10 * minutes);
afterAll(() => built?.remove());

it(
  'the Python package starts clusters and jobs on a real stack',
  async () => {
    const { passed, trouble } = await pytestOnStack(built, chosen);
    expect(trouble).toEqual([]);
    expect(passed).toBeGreaterThanOrEqual(7);
  },
  10 * minutes,
);
