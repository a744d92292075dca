// Parses durations and checks them against a cluster's limits.
import { RopewalkError } from '../../domain/errors.ts';
import { parseDurationMs } from '../../domain/units.ts';

/** More than zero, and at most ten years. Throws VALIDATION naming the field. */
export function positiveMs(
  value: string | number,
  field: string,
  bounds: { minMs?: number; maxMs?: number } = {},
): number {
  const { minMs = 1, maxMs = tenYearsMs } = bounds;
  const ms = parseDurationMs(value, field);
  if (ms >= minMs && ms <= maxMs) return ms;
  const range = `between ${minMs / 1_000} s and ${Math.floor(maxMs / 86_400_000)} days`;
  throw new RopewalkError({ code: 'VALIDATION', field, message: `${field}: must be ${range}.` });
}

export const optionalMs = (value: string | number | undefined, field: string): number | null =>
  value === undefined ? null : positiveMs(value, field);

const tenYearsMs = 3_650 * 86_400_000;
