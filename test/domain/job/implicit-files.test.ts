import { describe, expect, it } from 'vitest';

import { giveWay, replacedWarning } from '../../../domain/job/implicit-files.ts';

const file = (path: string, implicit = true) => ({ path, implicit });

describe('files that a script only names', () => {
  it('give way to files of the filestore at the same path, above it and below it', () => {
    const files = [file('a'), file('b/c'), file('d'), file('e'), file('ab'), file('b.txt'), file('d2/f')];
    const { kept, replaced } = giveWay(files, ['a', 'b', 'd/x/y', 'd2']);
    expect(replaced).toEqual(['a', 'b/c', 'd', 'd2/f']);
    expect(kept).toEqual([file('e'), file('ab'), file('b.txt')]);
  });

  it('keep their place where the filestore has no such file; files that the user names never give way', () => {
    expect(giveWay([file('a')], [])).toEqual({ kept: [file('a')], replaced: [] });
    expect(giveWay([file('a', false)], ['a'])).toEqual({ kept: [file('a', false)], replaced: [] });
  });

  it('are named when they give way', () => {
    expect(replacedWarning('raw', [])).toEqual([]);
    expect(replacedWarning('raw', ['a', 'b'])).toEqual([expect.stringMatching(/^Tasks get a, b of the filestore raw/)]);
    expect(replacedWarning('raw', ['1', '2', '3', '4', '5', '6', '7']).join()).toContain('1, 2, 3, 4, 5 and 2 more of');
  });
});
