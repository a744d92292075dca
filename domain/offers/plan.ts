// The machines and hourly cost of a possible launch. Sends no request and promises no capacity: the cloud decides at the launch which offers are
// available.
import type { InstanceRole } from '../cluster/state.ts';
import { cheapestFirst, typesOf } from './choose.ts';
import type { ChosenType } from './choose.ts';
import type { Market, Offer } from './offer.ts';

export interface RoleRequest {
  count: number;
  /** In the order of attempts. */
  types: readonly string[];
  /** In the order of attempts. */
  markets: readonly Market[];
  zones: readonly string[];
  /** Price of one instance's public address, US dollars; absent when no instance has one. */
  addressPerHour?: Readonly<Record<Market, number>>;
}

/** Price of a public address, US dollars an hour; 0 for instances without one. */
export type AddressPrices = Readonly<Record<InstanceRole, Readonly<Record<Market, number>>>>;

export const noAddresses: AddressPrices = {
  head: { 'on-demand': 0, spot: 0 },
  worker: { 'on-demand': 0, spot: 0 },
};

/** US dollars an hour; null when the price of one type is unknown. */
export interface PlanPrice {
  /** Price of the first choice. */
  firstChoice: number | null;
  /** Price of the most expensive alternative. */
  max: number | null;
}

interface PlannedType extends Omit<ChosenType, 'pricePerHour'> {
  /** In the cheapest zone; null where it is not sold on that market, or its price is unknown. */
  pricePerHour: number | null;
  spotPricePerHour: number | null;
}

export interface PlannedRole {
  count: number;
  markets: Market[];
  types: PlannedType[];
  /** Price of all `count` instances together, with their public addresses. */
  pricePerHour: PlanPrice;
}

/** Plans the instances of one role and their price, without types that are not sold there. */
export function planRole(
  offers: readonly Offer[],
  { count, types, markets, zones, addressPerHour = noAddresses.head }: RoleRequest,
): PlannedRole {
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
    firstChoice: firstPrice(types, markets, { 'on-demand': onDemand, spot }, addressPerHour),
    max: eligible.reduce<number | null>(
      (max, { pricePerHour, market }) => combine(max, combine(pricePerHour, addressPerHour[market], plus), Math.max),
      0,
    ),
  };
  return { count, markets: [...markets], types: planned, pricePerHour: times(each, count) };
}

/** Sums prices. */
export const totalPrice = (prices: readonly PlanPrice[]): PlanPrice => ({
  firstChoice: sumOf(prices.map(({ firstChoice }) => firstChoice)),
  max: sumOf(prices.map(({ max }) => max)),
});

function sumOf(prices: readonly (number | null)[]): number | null {
  const sum = prices.reduce<number | null>((total, price) => combine(total, price, plus), 0);
  return sum === null ? null : rounded(sum);
}

const plus = (a: number, b: number): number => a + b;

/** An unknown part makes the whole unknown. */
const combine = (a: number | null, b: number | null, how: (a: number, b: number) => number): number | null =>
  a === null || b === null ? null : how(a, b);

const times = ({ firstChoice, max }: PlanPrice, count: number): PlanPrice => ({
  firstChoice: firstChoice === null ? null : rounded(firstChoice * count),
  max: max === null ? null : rounded(max * count),
});

/** On-demand: the first type that is sold. Spot: the cheapest, because the cloud weighs capacity against price. */
function firstPrice(
  names: readonly string[],
  markets: readonly Market[],
  soldOn: Readonly<Record<Market, readonly ChosenType[]>>,
  addressPerHour: Readonly<Record<Market, number>>,
): number | null {
  for (const market of markets) {
    const sold = names.flatMap((name) => soldOn[market].find(({ type }) => type === name) ?? []);
    const [first] = market === 'spot' ? sold.toSorted(cheapestFirst) : sold;
    if (first !== undefined) return combine(first.pricePerHour, addressPerHour[market], plus);
  }
  return 0;
}

/** Ten-thousandths of a dollar, the precision of the prices. */
const rounded = (dollars: number): number => Math.round(dollars * 1e4) / 1e4;
