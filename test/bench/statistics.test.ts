// A bench's summary of its measurements.
import { describe, expect, it } from 'vitest';

import { quantile, summarise } from '../../bench/statistics.ts';

describe('a summary', () => {
  it('has the middle one and both ends, whatever their order', () => {
    expect(summarise([9, 1, 5])).toEqual({ median: 5, lowest: 1, highest: 9, count: 3 });
    expect(summarise([4])).toEqual({ median: 4, lowest: 4, highest: 4, count: 1 });
  });

  it('lies between the two in the middle of an even number', () => {
    expect(summarise([1, 2, 4, 100]).median).toBe(3);
    expect(quantile([0, 10], 0.99)).toBeCloseTo(9.9);
  });

  it('of nothing is refused: a bench that measured nothing must not look like one that did', () => {
    expect(() => summarise([])).toThrow('nothing was measured');
  });
});
