// Prices of regions out of a list with errors. Apache Libcloud's table names for each type and region the price of any of its
// offers: mostly the shared one, sometimes that of dedicated hardware, sometimes 0. Within a region, EC2 prices all sizes of a
// family alike: one factor over us-east-1. The factor that most sizes of a family agree on is the region's, and with the exact
// prices of us-east-1 it gives those of all sizes.

/** Type -> US dollars an hour. */
export type Prices = ReadonlyMap<string, number>;

/** Two factors are the same within rounding of the cheapest types. */
const tolerance = 0.004;
/** What dedicated hardware costs more than shared: 6 % in older families, 10 % in newer ones. */
const surcharges = [1.06, 1.1];

/** Prices of the types of `listed`'s families, from `exact`; a family is left out when fewer than two of its sizes agree. */
export function derivePrices(exact: Prices, listed: Prices): Map<string, number> {
  const factors = new Map<string, number[]>();
  for (const [type, dollars] of listed) {
    const here = exact.get(type);
    // The list has other prices than those of an hour for bare metal.
    if (here === undefined || dollars <= 0 || type.includes('.metal')) continue;
    const family = familyOf(type);
    factors.set(family, [...(factors.get(family) ?? []), dollars / here]);
  }
  const derived = new Map<string, number>();
  for (const [type, dollars] of exact) {
    const factor = agreedFactor(factors.get(familyOf(type)) ?? []);
    // Not listed there, not even with an error: the region need not have this size.
    if (factor === null || !listed.has(type)) continue;
    derived.set(type, Number((dollars * factor).toPrecision(5)));
  }
  return derived;
}

/** The factor of most sizes, the smaller of two; without the surcharge of dedicated hardware where a size has it without. */
export function agreedFactor(factors: readonly number[]): number | null {
  const groups = new Map<number, number>();
  for (const factor of factors.toSorted((a, b) => a - b)) {
    const known = [...groups.keys()].find((each) => isSame(factor, each));
    groups.set(known ?? factor, (groups.get(known ?? factor) ?? 0) + 1);
  }
  const [best] = [...groups].toSorted(([a, countA], [b, countB]) => countB - countA || a - b);
  if (best === undefined || best[1] < 2) return null;
  const shared = [...groups.keys()].find((each) => surcharges.some((surcharge) => isSame(best[0], each * surcharge)));
  return shared ?? best[0];
}

const isSame = (a: number, b: number): boolean => Math.abs(a / b - 1) < tolerance;
const familyOf = (type: string): string => type.slice(0, type.indexOf('.'));
