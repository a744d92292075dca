// Named ways of breaking what a plan says. Each would have somebody pay what they were not told.
import type { Mutant } from '../mutants.ts';

const file = 'offers/plan.ts';

export const planMutants: Mutant[] = [
  {
    name: 'the dearest market is left out',
    file,
    from: 'markets.includes(market) && ',
    to: 'market === markets[0] && ',
  },
  {
    name: 'zones where it may not run count',
    file,
    from: ' && zones.includes(zone)',
    to: '',
  },
  {
    name: 'on demand the cheapest is promised, whatever is asked for first',
    file,
    from: "market === 'spot' ? prices.toSorted((a, b) => a - b) : prices",
    to: 'prices.toSorted((a, b) => a - b)',
  },
  {
    name: 'what is sold on the spot market alone is not shown',
    file,
    from: 'sold ?? spare;',
    to: 'sold;',
  },
  {
    name: 'many cost what one costs',
    file,
    from: 'rounded(max * count)',
    to: 'rounded(max)',
  },
];
