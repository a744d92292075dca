// What a launch may come to, in machines and dollars an hour, before anything is launched. It asks nothing and promises
// nothing: which of the offers is had, the cloud decides when it is asked.
import { typesOf } from './choose.ts';
import type { ChosenType } from './choose.ts';
import type { Market, Offer } from './offer.ts';

export interface RoleWish {
  count: number;
  /** In the order in which they are tried. */
  types: readonly string[];
  /** In the order in which they are tried. */
  markets: readonly Market[];
  zones: readonly string[];
}

/** US dollars an hour. */
export interface PlanPrice {
  /** When what is asked for first is had. */
  firstChoice: number;
  /** When the dearest of what may be had instead is. */
  max: number;
}

interface PlannedType extends Omit<ChosenType, 'pricePerHour'> {
  /** In the cheapest zone; null where it is not sold on that market. */
  pricePerHour: number | null;
  spotPricePerHour: number | null;
}

export interface PlannedRole {
  count: number;
  markets: Market[];
  types: PlannedType[];
  /** Of all `count` together. */
  pricePerHour: PlanPrice;
}

/** What instances of one role may be and cost; types that nobody sells there are left out. */
export function planRole(offers: readonly Offer[], { count, types, markets, zones }: RoleWish): PlannedRole {
  const onDemand = typesOf(offers, { zones, market: 'on-demand' });
  const spot = typesOf(offers, { zones, market: 'spot' });
  const planned = types.flatMap((name): PlannedType[] => {
    const sold = onDemand.find(({ type }) => type === name);
    const spare = spot.find(({ type }) => type === name);
    const shape = sold ?? spare;
    if (shape === undefined) return [];
    return [
      {
        ...shape,
        zones: [...new Set([...(sold?.zones ?? []), ...(spare?.zones ?? [])])].toSorted(),
        pricePerHour: sold?.pricePerHour ?? null,
        spotPricePerHour: spare?.pricePerHour ?? null,
      },
    ];
  });
  const eligible = offers.filter(
    ({ type, market, zone }) => types.includes(type) && markets.includes(market) && zones.includes(zone),
  );
  const each: PlanPrice = {
    firstChoice: firstPrice(planned, markets),
    max: Math.max(0, ...eligible.map(({ pricePerHour }) => pricePerHour)),
  };
  return { count, markets: [...markets], types: planned, pricePerHour: times(each, count) };
}

/** The price of everything together. */
export const totalPrice = (prices: readonly PlanPrice[]): PlanPrice => ({
  firstChoice: rounded(prices.reduce((sum, { firstChoice }) => sum + firstChoice, 0)),
  max: rounded(prices.reduce((sum, { max }) => sum + max, 0)),
});

const times = ({ firstChoice, max }: PlanPrice, count: number): PlanPrice => ({
  firstChoice: rounded(firstChoice * count),
  max: rounded(max * count),
});

/** On demand the first type that is sold; on the spot market, where the cloud weighs room against price, the cheapest. */
function firstPrice(types: readonly PlannedType[], markets: readonly Market[]): number {
  for (const market of markets) {
    const prices = types.flatMap((type) => (market === 'spot' ? type.spotPricePerHour : type.pricePerHour) ?? []);
    const [first] = market === 'spot' ? prices.toSorted((a, b) => a - b) : prices;
    if (first !== undefined) return first;
  }
  return 0;
}

/** Ten-thousandths of a dollar: prices come no finer, sums of them should not either. */
const rounded = (dollars: number): number => Math.round(dollars * 1e4) / 1e4;
