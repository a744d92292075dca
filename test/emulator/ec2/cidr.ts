// IPv4 ranges, as EC2 checks those of VPCs and subnets.
export interface Range {
  from: number;
  to: number;
  prefix: number;
}

/** null when it is not a range with its host bits clear. */
export function readRange(cidr: string): Range | null {
  const [, ...parts] = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})\/(\d{1,2})$/.exec(cidr) ?? [];
  const [a = 256, b = 256, c = 256, d = 256, prefix = 33] = parts.map(Number);
  if ([a, b, c, d].some((part) => part > 255) || prefix > 32) return null;
  const from = ((a * 256 + b) * 256 + c) * 256 + d;
  const size = 2 ** (32 - prefix);
  return from % size === 0 ? { from, to: from + size - 1, prefix } : null;
}

export const isInside = (inner: Range, outer: Range): boolean => inner.from >= outer.from && inner.to <= outer.to;
export const overlaps = (one: Range, other: Range): boolean => one.from <= other.to && other.from <= one.to;
