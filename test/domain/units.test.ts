import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import { RopewalkError } from '../../domain/errors.ts';
import { formatBytes, formatDuration, parseBytes, parseDurationMs, spellDuration } from '../../domain/units.ts';

describe('parseBytes', () => {
  // The examples of the documentation of dask.utils.parse_bytes, and of seed 004.
  it.each([
    ['100', 100],
    ['100 MB', 100_000_000],
    ['100M', 100_000_000],
    ['5kB', 5_000],
    ['5.4 kB', 5_400],
    ['1kiB', 1_024],
    ['1e6', 1_000_000],
    ['1e6 kB', 1_000_000_000],
    ['MB', 1_000_000],
    [123, 123],
    ['8 GiB', 8 * 2 ** 30],
    ['64GB', 64_000_000_000],
    ['32GB', 32_000_000_000],
    ['5KB', 5_000],
    ['1 Ki', 1_024],
    ['0', 0],
    ['1.9 B', 1],
  ])('reads %j as %d', (value, bytes) => {
    expect(parseBytes(value)).toBe(bytes);
  });

  it.each(['5 foos', '', ' ', '-1 GB', '1 GB 2', 'NaN', 'Infinity', '1e300 PB', '\t', 'GB8'])('refuses %j', (value) => {
    expectRefused(() => parseBytes(value, 'memory'), 'memory');
  });

  it('means the same for every case and spacing', () => {
    const unit = fc.constantFrom('B', 'kB', 'MB', 'GB', 'TB', 'KiB', 'MiB', 'GiB', 'TiB', 'k', 'Mi');
    fc.assert(
      fc.property(fc.nat(4_000), unit, fc.nat(3), (amount, name, blanks) => {
        const plain = parseBytes(`${amount}${name}`);
        expect(parseBytes(`${amount}${' '.repeat(blanks)}${name.toUpperCase()}`)).toBe(plain);
        expect(plain % Math.max(1, amount)).toBe(0);
      }),
    );
  });
});

describe('parseDurationMs', () => {
  // The examples of the documentation of dask.utils.parse_timedelta, and of seeds 001 and 004.
  it.each([
    ['3s', 3_000],
    ['3.5 seconds', 3_500],
    ['300ms', 300],
    [3, 3_000],
    ['20 minutes', 1_200_000],
    ['30 minutes', 1_800_000],
    ['1 hour', 3_600_000],
    ['hour', 3_600_000],
    ['90s', 90_000],
    ['3m', 180_000],
    ['2 H', 7_200_000],
    [1200, 1_200_000],
    ['1200', 1_200_000],
    ['2 days', 172_800_000],
    ['1 week', 604_800_000],
    ['1500 us', 2],
    ['.5 s', 500],
    [0, 0],
  ])('reads %j as %d ms', (value, ms) => {
    expect(parseDurationMs(value)).toBe(ms);
  });

  it.each([
    '',
    'soon',
    '5 parsecs',
    '-3 s',
    '1h30m',
    '1 2 weeks s',
    'constructor',
    Number.NaN,
    Number.POSITIVE_INFINITY,
    -1,
    1e300,
  ])('refuses %j', (value) => {
    expectRefused(() => parseDurationMs(value, 'jobTimeout'), 'jobTimeout');
  });

  it('never answers anything but a whole number of at least 0 or a refusal', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.double(), fc.stringMatching(/^[0-9.]{1,6} ?[a-z]{0,7}$/)), (value) => {
        try {
          const ms = parseDurationMs(value);
          expect(Number.isSafeInteger(ms) && ms >= 0).toBe(true);
        } catch (error) {
          expect(error).toBeInstanceOf(RopewalkError);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('formats for people', () => {
  it.each([
    [0, '0 ms'],
    [850, '850 ms'],
    [12_340, '12.3 s'],
    [59_949, '59.9 s'],
    [59_990, '1 m 0 s'],
    [200_000, '3 m 20 s'],
    [7_500_000, '2 h 5 m'],
    [3_599_900, '1 h 0 m'],
    [356_400_000, '4 d 3 h'],
    [-5, '0 ms'],
  ])('writes %d ms as %s', (ms, text) => {
    expect(formatDuration(ms)).toBe(text);
  });

  it.each([
    [0, '0 seconds'],
    [1_000, '1 second'],
    [90_500, '1 minute 30.5 seconds'],
    [1_200_000, '20 minutes'],
    [5_400_000, '1 hour 30 minutes'],
    [86_400_000 * 400, '400 days'],
  ])('spells %d ms as %s', (ms, text) => {
    expect(spellDuration(ms)).toBe(text);
  });

  it.each([
    [512, '512 B'],
    [1_536, '1.50 kiB'],
    [8 * 2 ** 30, '8.00 GiB'],
    [2 ** 50, '1.00 PiB'],
  ])('writes %d bytes as %s', (bytes, text) => {
    expect(formatBytes(bytes)).toBe(text);
  });
});

function expectRefused(parse: () => unknown, field: string): void {
  try {
    parse();
  } catch (error) {
    if (!(error instanceof RopewalkError)) throw error;
    expect(error.problem).toMatchObject({ code: 'VALIDATION', field });
    expect(error.problem.message).toContain(field);
    return;
  }
  expect.fail('it was accepted');
}
