// Paths of files that have to lie in one directory.
import { describe, expect, it } from 'vitest';

import { findClash, parentsOf } from '../../domain/file-path.ts';

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

  it('has parents from the outermost', () => {
    expect(parentsOf('a/b/c')).toEqual(['a', 'a/b']);
  });
});
