// The counts of a run: CI reads them from its last line.
import { describe, expect, it } from 'vitest';

import { line, none, parseLine, sum } from './counts.ts';

describe('counts', () => {
  it('add up, with the failures in order', () => {
    const total = sum([
      { passed: 3, failed: 1, skipped: 0, failures: ['a'] },
      { passed: 4, failed: 1, skipped: 2, failures: ['b'] },
    ]);
    expect(total).toEqual({ passed: 7, failed: 2, skipped: 2, failures: ['a', 'b'] });
    expect(sum([])).toEqual(none);
  });

  it('are read from the last line of counts', () => {
    const counts = { ...none, passed: 12, failed: 3, skipped: 1 };
    expect(parseLine(`unit 1 passed, 0 failed, 0 skipped\n9 passed, 9 failed, 9 skipped\n${line(counts)}\n`)).toEqual(
      counts,
    );
    expect(parseLine('Tests  3 passed (3)')).toBeNull();
  });
});
