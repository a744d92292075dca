import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { nearName } from '../../domain/near-name.ts';

const names = ['ntasks', 'array', 'max-workers', 'memory', 'env', 'gpu', 'cpu', 'arm'];

describe('the nearest name', () => {
  it.each([
    ['ntask', 'ntasks'],
    ['NTASKS', 'ntasks'],
    ['ntaks', 'ntasks'],
    ['tnasks', 'ntasks'],
    ['memry', 'memory'],
    ['max-worker', 'max-workers'],
    ['maxworkers', 'max-workers'],
    ['enb', 'env'],
    ['colour', null],
    ['nt', null],
    ['xyz', null],
  ])('of %s is %s', (written, near) => {
    expect(nearName(written, names)).toBe(near);
  });

  it('is found after any two edits of a long name, and any one of a short name', () => {
    const edit = fc.tuple(fc.nat(), fc.constantFrom('insert', 'delete', 'replace'), fc.constantFrom('q', 'z'));
    const swap = fc.tuple(fc.nat(), fc.constant('swap'), fc.constant(''));
    const apply = (text: string, [where, kind, letter]: [number, string, string]): string => {
      const at = where % text.length;
      const [before, after] = [text.slice(0, at), text.slice(at)];
      if (kind === 'insert') return before + letter + after;
      if (kind === 'delete') return before + after.slice(1);
      if (kind === 'replace') return before + letter + after.slice(1);
      return before + (after[1] ?? '') + (after[0] ?? '') + after.slice(2);
    };
    fc.assert(
      fc.property(edit, edit, (first, second) => {
        expect(nearName(apply(apply('map-over-values', first), second), ['ntasks', 'map-over-values'])).toBe(
          'map-over-values',
        );
      }),
    );
    fc.assert(
      fc.property(fc.oneof(edit, swap), (only) => {
        expect(nearName(apply('gpus', only), ['gpus', 'memory'])).toBe('gpus');
      }),
    );
  });

  it('takes a text of any length', () => {
    expect(nearName('n'.repeat(1_000_000), names)).toBeNull();
  });
});
