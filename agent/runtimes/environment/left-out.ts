// The hint for a program that misses a package which its user's client excluded: the ModuleNotFoundError itself contains it, in
// a task's output, in a worker's log and in a Dask client's exception. Excluded packages differ between users of one
// environment, so the list is in a file of the instance that a variable names.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { LeftOut } from '../../../schema/software.ts';

export const leftOutVariable = 'ROPEWALK_LEFT_OUT';

/** Path of the file; null when nothing was excluded. */
export async function writeLeftOut(directory: string, leftOut: readonly LeftOut[]): Promise<string | null> {
  if (leftOut.length === 0) return null;
  const byImport = Object.fromEntries(
    leftOut.flatMap(({ name, why, imports }) =>
      imports.map((each) => [each, `Package sync left ${name} out: ${why}.`]),
    ),
  );
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const path = join(directory, 'left-out.json');
  await writeFile(path, JSON.stringify(byImport), { mode: 0o644 });
  return path;
}

/** Files in an environment's package directory. */
export const leftOutFiles: Readonly<Record<string, string>> = {
  'ropewalk-left-out.pth': `import os; "${leftOutVariable}" in os.environ and __import__("_ropewalk_left_out")\n`,
  '_ropewalk_left_out.py': `"""Says of a package that cannot be imported that package sync left it out, and why."""

import json
import os
import sys


class _Hints:
    """The last finder: Python asks it when no other one has found a module."""

    def __init__(self):
        self.known = None

    def find_spec(self, name, path=None, target=None):
        # importlib.util.find_spec only asks whether there is a module: it must get None.
        if sys._getframe(1).f_back.f_code.co_name != "_find_and_load_unlocked":
            return None
        if self.known is None:
            try:
                with open(os.environ["${leftOutVariable}"]) as file:
                    self.known = json.load(file)
            except (OSError, KeyError, ValueError):
                self.known = {}
        hint = self.known.get(name.partition(".")[0])
        if hint is None:
            return None
        raise ModuleNotFoundError(f"No module named {name!r}. {hint}", name=name)


sys.meta_path.append(_Hints())
`,
};
