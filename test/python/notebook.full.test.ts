// `ropewalk notebook` of the Python package with a real stack: package sync, Jupyter, files in both directions, SIGINT, SIGKILL and the
// idle timeout. The tests are in python/tests/test_notebook_stack.py.
import { afterAll, beforeAll, expect, it } from 'vitest';

import { type BuiltPackage, buildPackage, pytestOnStack } from './built-package.ts';

const minutes = 60_000;

let built: BuiltPackage;
beforeAll(async () => {
  built = await buildPackage({ withAws: false });
}, 10 * minutes);
afterAll(() => built?.remove());

it(
  'a notebook starts with the environment and the files of its user, and brings changes back',
  async () => {
    const { passed, trouble } = await pytestOnStack(built, ['tests/test_notebook_stack.py']);
    expect(trouble).toEqual([]);
    expect(passed).toBe(3);
  },
  15 * minutes,
);
