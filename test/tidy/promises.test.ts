// docs/promises.md and docs/aws.md against the test files: each exists, and runs in the part that the table names.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '../..');
const text = readFileSync(join(root, 'docs/promises.md'), 'utf8');
/** | P1 | sentence | files in `npm test` | files in `npm run test:all` | */
const rows = [...text.matchAll(/^\| ([PS]\d+) \| ([^|]+) \| ([^|]+) \| ([^|]+) \|$/gm)].map(
  ([, id = '', , usual = '', all = '']) => ({ id, usual: filesIn(usual), all: filesIn(all) }),
);

describe('the table of promises', () => {
  it('names each promise once, and a test for each', () => {
    expect(rows.length).toBeGreaterThan(60);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
    expect(rows.filter(({ usual, all }) => usual.length + all.length === 0)).toEqual([]);
  });

  it('names tests that exist', () => {
    const named = rows.flatMap(({ id, usual, all }) => [...usual, ...all].map((path) => ({ id, path })));
    expect(named.filter(({ path }) => !existsSync(join(root, path)))).toEqual([]);
  });

  it('says in which run each test is', () => {
    const wrong = rows.flatMap(({ id, usual, all }) => [
      ...usual.filter(isLong).map((path) => `${id}: ${path} runs in npm run test:all`),
      ...all.filter((path) => !isLong(path)).map((path) => `${id}: ${path} runs in npm test`),
    ]);
    expect(wrong).toEqual([]);
  });
});

it('docs/aws.md names tests that exist', () => {
  const document = readFileSync(join(root, 'docs/aws.md'), 'utf8');
  const named = [...document.matchAll(/`(test\/[^`\s]+\.test\.ts)`/g)].map(([, path = '']) => path);
  expect(named.length).toBeGreaterThan(15);
  expect(named.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});

function filesIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, path = '']) => path);
}

function isLong(path: string): boolean {
  // Those of the Python package are run by test/python/*.full.test.ts.
  return path.endsWith('.full.test.ts') || path.startsWith('test/chaos/') || path.startsWith('python/tests/');
}
