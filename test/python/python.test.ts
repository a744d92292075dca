// The Python package as its users get it: what its wheel has in it, and its tests against stand-ins of the API. Each of pytest's
// tests is one here. stack.test.ts and stack.full.test.ts run those that need a stack, types.full.test.ts its types.
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { type BuiltPackage, buildPackage } from './built-package.ts';

const minutes = 60_000;

let built: BuiltPackage;
beforeAll(async () => {
  built = await buildPackage();
}, 5 * minutes);
afterAll(() => built?.remove());

describe('the wheel', () => {
  it('holds the package, typed, and what it needs', async () => {
    const files = await readdir(built.site, { recursive: true });
    expect(files).toEqual(
      expect.arrayContaining(['ropewalk/__init__.py', 'ropewalk/batch/__init__.py', 'ropewalk/py.typed']),
    );
    const information = files.find((name) => name.endsWith('.dist-info/METADATA')) ?? '';
    const metadata = await readFile(join(built.site, information), 'utf8');
    expect([...metadata.matchAll(/^Requires-Dist: (.*)$/gm)].map(([, name]) => name)).toEqual([
      'distributed>=2025.11.0',
      "rich>=13; extra == 'widget'",
    ]);
    expect(metadata).toContain('Requires-Python: >=3.10');
    expect(files.filter((name) => name.includes('test'))).toEqual([]);
  });

  it(
    'passes its tests',
    async () => {
      const { passed, trouble } = await built.pytest(['-m', 'not stack'], {});
      expect(trouble).toEqual([]);
      expect(passed).toBeGreaterThanOrEqual(100);
    },
    15 * minutes,
  );
});
