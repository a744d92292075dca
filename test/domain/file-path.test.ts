// Paths of files that must be in one directory.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { findClash, findOwnClash, isFilePath, isGits, maxPathBytes } from '../../domain/file-path.ts';

describe('the path of a file', () => {
  const name = fc.oneof(
    fc.constantFrom('a', '', '.', '..', '...', '.a', 'a.', 'é', '漢', '🚀', '\0', '\ud800', '\udc00', '\n'),
    fc
      .tuple(fc.constantFrom('a', 'é', '漢', '🚀'), fc.integer({ min: 60, max: 260 }))
      .map(([one, count]) => one.repeat(count)),
  );

  it('has real names of at most 255 bytes, and at most 1,024 in all', () => {
    const bytes = (text: string): number => Buffer.byteLength(text);
    let accepted = 0;
    fc.assert(
      fc.property(fc.array(name, { minLength: 1, maxLength: 6 }), (names) => {
        const path = names.join('/');
        const isReal = names.every((each) => !['', '.', '..'].includes(each) && bytes(each) <= 255);
        const isKept = Buffer.from(path).toString() === path && !path.includes('\0');
        const expected = isReal && isKept && bytes(path) <= maxPathBytes;
        expect(isFilePath(path)).toBe(expected);
        if (expected) accepted += 1;
      }),
      { numRuns: 3_000 },
    );
    expect(accepted).toBeGreaterThan(300);
  });
});

describe('two lists of files', () => {
  it.each([
    [['a'], ['a'], { index: 0, other: 'a' }],
    [['x', 'a/b/c'], ['a'], { index: 1, other: 'a' }],
    [['x', 'a/b/c'], ['a/b'], { index: 1, other: 'a/b' }],
    [['a'], ['x', 'a/b/c'], { index: 0, other: 'a/b/c' }],
    [['a/b'], ['a/b/c'], { index: 0, other: 'a/b/c' }],
    [['a/b', 'ab'], ['a/c', 'a/bc', 'abc'], null],
    [[], ['a'], null],
  ])('%j and %j', (paths, others, clash) => {
    expect(findClash(paths, others)).toEqual(clash);
  });
});

describe('a list of files', () => {
  it.each([
    [['a', 'b', 'a'], { index: 2, other: 'a' }],
    [['a/b/c', 'x', 'a'], { index: 0, other: 'a' }],
    [['a', 'a b', 'a-b/c', 'ab'], null],
    [[], null],
  ])('%j', (paths, clash) => {
    expect(findOwnClash(paths)).toEqual(clash);
  });
});

describe('any lists of files', () => {
  const path = fc.array(fc.constantFrom('a', 'b', 'ab', 'a-', '!', 'é'), { minLength: 1, maxLength: 4 });
  const paths = fc.array(
    path.map((names) => names.join('/')),
    { maxLength: 8 },
  );
  const clashes = (one: string, other: string) =>
    one === other || one.startsWith(`${other}/`) || other.startsWith(`${one}/`);

  it('clash exactly where a path is another one, or lies below it', () => {
    fc.assert(
      fc.property(paths, paths, (some, others) => {
        const expected = some.findIndex((each) => others.some((other) => clashes(each, other)));
        const found = findClash(some, others);
        // When paths clash with each other already, any of them is named.
        if (findOwnClash(some) === null) expect(found?.index ?? -1).toBe(expected);
        else expect(found === null).toBe(expected === -1);
        if (found !== null) expect(clashes(some[found.index] ?? '', found.other)).toBe(true);
        const own = some.some((each, at) => some.some((other, place) => place !== at && clashes(each, other)));
        expect(findOwnClash(some) !== null).toBe(own);
      }),
    );
  });

  it('are compared in a time that does not grow with the square of their levels', () => {
    const deep = Array.from({ length: 10_000 }, (_, n) => `${'a/'.repeat(500)}${n}`);
    expect(findOwnClash(deep)).toBeNull();
    expect(findClash(deep, ['b'])).toBeNull();
  });
});

describe('a path of a repository of git', () => {
  it.each([
    '.git/config',
    'a/.git/hooks/x',
    '.GIT/config',
    '.g\u200cit/config',
    '.git /x',
    '.git./x',
    '.git::$INDEX/x',
    'git~1/x',
    'a\\.git\\x',
  ])('%j is one', (path) => {
    expect(isGits(path)).toBe(true);
  });

  it.each(['.gitignore', 'a/.github/x', 'git/x', 'x.git', 'git~a/x', ''])('%j is none', (path) => {
    expect(isGits(path)).toBe(false);
  });
});
