// The Python package with a running Ropewalk, on the shared stack: a cluster and jobs. stack.full.test.ts has all of it.
import { afterAll, beforeAll, expect, it } from 'vitest';

import { sharedStack } from '../support/shared-stack.ts';
import { type BuiltPackage, buildPackage } from './built-package.ts';

const minutes = 60_000;
const chosen = ['tests/test_stack.py::test_from_start_to_end', 'tests/test_batch_stack.py'];

let built: BuiltPackage;
beforeAll(async () => {
  built = await buildPackage({ withAws: false });
}, 10 * minutes);
afterAll(() => built?.remove());

it(
  'the Python package starts clusters and jobs on a real stack',
  async () => {
    const stack = await sharedStack();
    const { passed, trouble } = await built.pytest(chosen, {
      ROPEWALK_TEST_API_URL: stack.apiUrl,
      ROPEWALK_TEST_TOKEN: stack.token,
    });
    expect(trouble).toEqual([]);
    expect(passed).toBeGreaterThanOrEqual(6);
  },
  10 * minutes,
);
