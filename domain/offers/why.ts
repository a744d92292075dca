// Explains the instance types of a cluster: the launched types, the order of attempts, and the next type.
import { dollarsOf, type CostInterval } from '../cost/interval.ts';
import { marketsOf } from '../cluster/capacity/machines.ts';
import type { MachineSettings } from '../cluster/capacity/machine-settings.ts';
import { formatBytes, plural } from '../units.ts';
import type { NumberedEvent } from '../cluster/history.ts';
import { fact, type WhySentence } from '../why.ts';
import type { Offer } from './offer.ts';
import { planRole, type PlannedRole } from './plan.ts';

type Launched = Pick<CostInterval, 'role' | 'type' | 'zone' | 'market' | 'microsPerHour' | 'fromMs'>;
type Role = Launched['role'];
type PlannedType = PlannedRole['types'][number];

export interface TypeFacts {
  provider: string;
  /** Null on a host, and once the specification of an ended cluster was deleted. */
  machines: Pick<MachineSettings, 'headTypes' | 'workerTypes' | 'spotPolicy' | 'zones'> | null;
  /** Current offers; empty when the cloud could not be asked. */
  offers: readonly Offer[];
  /** From the cost ledger. */
  launched: readonly Launched[];
  /** Of the cluster. A launch has the time of its instances. */
  events: readonly NumberedEvent[];
}

export function explainTypes(facts: TypeFacts): WhySentence[] {
  const { provider, machines, launched } = facts;
  if (machines === null && launched.every(({ microsPerHour }) => microsPerHour === 0)) {
    const text = `There is no choice of instance types: the provider ${provider} runs everything on one machine.`;
    return [{ about: 'instanceType', text, facts: [fact('provider', provider)] }];
  }
  return [...explainRole(facts, 'head'), ...explainRole(facts, 'worker')];
}

function explainRole({ machines, offers, launched, events }: TypeFacts, role: Role): WhySentence[] {
  const had = groupLaunched(launched.filter((each) => each.role === role));
  if (machines === null) return had.map((group) => launchedSentence(group, role, events));
  const types = role === 'head' ? machines.headTypes : machines.workerTypes;
  const markets = role === 'head' ? marketsOf('on-demand') : marketsOf(machines.spotPolicy);
  const plan = planRole(offers, { count: 1, types, markets, zones: machines.zones });
  const choice = choiceSentence(plan, types, role);
  return [...had.map((group) => launchedSentence(group, role, events, types[0])), choice];
}

const nameOf: Record<Role, string> = { head: 'The head instance', worker: 'Workers' };

/** On-demand, types are tried in order; on the spot market the cloud weighs price against spare capacity. */
function choiceSentence({ types, markets }: PlannedRole, asked: readonly string[], role: Role): WhySentence {
  const about = 'instanceType';
  const [first, ...others] = types;
  const facts = [fact(`${role} types`, asked.join(', ')), fact('markets', markets.join(', '))];
  if (first === undefined) {
    const text = `${nameOf[role]} may be ${asked.join(', ')}, in this order; their prices are unknown now.`;
    return { about, text, facts };
  }
  const prices = types.map(({ pricePerHour }) => pricePerHour ?? Number.POSITIVE_INFINITY);
  const isCheapest = prices.every((price, index) => index === 0 || price >= (prices[index - 1] ?? 0));
  const nextText = others.slice(0, maxNext).map(describe).join('; ');
  const next = nextText === '' ? 'No other type may be used.' : `Next would be: ${nextText}.`;
  const rank =
    types.length === 1
      ? 'the only type that fits'
      : isCheapest
        ? `the cheapest of ${plural(types.length, 'type')} that fit`
        : `the first of ${plural(types.length, 'type')} in the order asked for`;
  const spot =
    markets[0] === 'spot' ? ' On the spot market the cloud picks among them by price and spare capacity.' : '';
  const fallback = markets.length > 1 ? ' When it has none, they are launched on demand.' : '';
  const text = `${nameOf[role]}: ${describe(first)} is ${rank}. ${next}${spot}${fallback}`;
  return { about, text, facts };
}

const maxNext = 2;

interface Group extends Launched {
  count: number;
  /** Times of their launches. */
  launches: Set<number>;
}

function launchedSentence(
  { count, type, market, zone, microsPerHour, fromMs, launches }: Group,
  role: Role,
  events: TypeFacts['events'],
  first?: string,
): WhySentence {
  const noted = events.filter(({ code, atMs }) => code === 'LAUNCHED' && launches.has(atMs));
  const price = dollarsOf(microsPerHour);
  const been = `${plural(count, role === 'head' ? 'head instance' : 'worker instance')} of ${type} ${count === 1 ? 'was' : 'were'}`;
  const instead =
    first === undefined || first === type || market === 'spot'
      ? ''
      : ` instead of the first choice, ${first}, which the cloud did not give`;
  return {
    about: 'instanceType',
    text: `${been} launched ${market} in ${zone} for $${price} an hour${count === 1 ? '' : ' each'}${instead}.`,
    facts: [
      fact('instances', count, null, noted),
      fact('type', type, fromMs, noted),
      fact('dollars per hour', price, fromMs, noted),
    ],
  };
}

/** One group for each type, market, zone and price, in the order of their first launch. */
function groupLaunched(launched: readonly Launched[]): Group[] {
  const groups = new Map<string, Group>();
  for (const each of launched) {
    const key = JSON.stringify([each.type, each.market, each.zone, each.microsPerHour]);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { ...each, count: 1, launches: new Set([each.fromMs]) });
    else {
      known.count += 1;
      known.launches.add(each.fromMs);
    }
  }
  return [...groups.values()];
}

const describe = ({ type, vcpus, memoryBytes, pricePerHour, spotPricePerHour }: PlannedType): string => {
  const price = pricePerHour ?? spotPricePerHour;
  const priced = price === null ? '' : `, $${price} an hour${pricePerHour === null ? ' on the spot market' : ''}`;
  return `${type} (${vcpus} vCPU, ${formatBytes(memoryBytes)}${priced})`;
};
