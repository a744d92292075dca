// Derives regional prices from a list with errors. Apache Libcloud's table has one price for each type and region, of any of
// its offers: mostly shared tenancy, sometimes dedicated hardware, sometimes 0. Within a region, EC2 prices all sizes of a
// family by one factor over us-east-1. The factor that most sizes of a family agree on is the region's; multiplied by the exact
// prices of us-east-1 it gives the price of every size.

/** Maps a type to US dollars per hour. */
export type Prices = ReadonlyMap<string, number>;

/** Factors within this tolerance are equal; the cheapest types are rounded. */
const tolerance = 0.004;
/** Price factor of dedicated over shared hardware: 6 % in older families, 10 % in newer ones. */
const surcharges = [1.06, 1.1];

/** Prices of the types of `listed`'s families, from `exact`; omits families in which fewer than two sizes agree. */
export function derivePrices(exact: Prices, listed: Prices): Map<string, number> {
  const factors = new Map<string, number[]>();
  for (const [type, dollars] of listed) {
    const here = exact.get(type);
    // The list's prices of bare metal are not hourly.
    if (here === undefined || dollars <= 0 || type.includes('.metal')) continue;
    const family = familyOf(type);
    factors.set(family, [...(factors.get(family) ?? []), dollars / here]);
  }
  const derived = new Map<string, number>();
  for (const [type, dollars] of exact) {
    const factor = agreedFactor(factors.get(familyOf(type)) ?? []);
    // A size missing from the list may not exist in the region.
    if (factor === null || !listed.has(type)) continue;
    derived.set(type, Number((dollars * factor).toPrecision(5)));
  }
  return derived;
}

/** The factor of most sizes, or the smaller one of a tie; without the dedicated-hardware surcharge where some size lacks it. */
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
