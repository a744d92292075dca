// EC2 for simulations of the cost ledger: the emulated account, with its own append-only ledger and its own prices, called without HTTP. Like EC2, it
// reports launches and ends in whole seconds, no end time of an interrupted spot instance, and nothing about an instance that ended more than an hour
// ago.
import type { LaunchOutcome } from '../../domain/cluster/apply.ts';
import type { Decision } from '../../domain/cluster/plan.ts';
import type { InstanceRole } from '../../domain/cluster/state.ts';
import type { InstancePrice, Lifetime } from '../../domain/cost/interval.ts';
import { chargedPrices, type SpotPrice } from '../../domain/cost/spot-prices.ts';
import { createAccount } from '../emulator/account.ts';
import type { LedgerEntry } from '../emulator/ledger.ts';
import type { Instance, TemplateData } from '../emulator/state.ts';
import { instanceTypes, priceOf } from '../emulator/types.ts';

export type Launch = Extract<Decision, { kind: 'launch' }>;

export interface LedgerCloud {
  /** `granted`: the number of slots with capacity. `shown`: the number of instances in the answer. A repeat launches nothing. */
  launch(decision: Launch, granted: number, shown: number): LaunchOutcome;
  /** Instances that are not terminated yet, including those shutting down. */
  list(): string[];
  isGone(id: string): boolean;
  terminate(ids: readonly string[]): void;
  lifetimes(ids: readonly string[]): Lifetime[];
  die(id: string): void;
  /** Interrupts a spot instance at a given time. Returns false for an on-demand instance or one that is already shutting down. */
  interrupt(id: string, atMs: number): boolean;
  /** The next announced end. */
  nextEndMs(): number | null;
  /** Carries out the announced ends that are due. */
  takeBack(): void;
  entries(): readonly LedgerEntry[];
  /** EC2's own account of an instance's lifetime and its charge. */
  billOf(id: string): Bill;
}

export interface Bill {
  micros: number;
  launchedAtMs: number;
  endedAtMs: number;
}

const afterlifeMs = 3_600_000;
const diskMicrosPerHour = 3_288;
const addressMicrosPerHour = 5_000;
const spotEnd = 'Server.SpotInstanceTermination';

const data: TemplateData = {
  ...{ imageId: 'ami-1', instanceType: null, userData: '', profile: null, securityGroups: [], hasInterface: true },
  ...{ shutdownBehavior: 'terminate', httpTokens: 'required', publicIp: true, diskGib: 30, deleteOnTermination: true },
  ...{ tags: {}, volumeTags: {}, spotRequestTags: {} },
};

/** `shutdownMs`: how long a terminated instance is listed. Time is `Date.now()`. */
export function createLedgerCloud({
  hasAddress,
  shutdownMs,
}: {
  hasAddress: boolean;
  shutdownMs: number;
}): LedgerCloud {
  const account = createAccount(null);
  account.delays.shutdownMs = shutdownMs;
  const region = account.region('us-east-1');
  const byLaunch = new Map<number, Map<number, Instance>>();
  const all = (): Instance[] => [...region.instances.values()];
  const find = (id: string): Instance => {
    const found = account.find(id);
    if (found === null) throw new Error(`the cloud has no ${id}`);
    return found;
  };
  const end = (instance: Instance, code: string): void => account.end(instance, code, code);

  function launchOne(role: InstanceRole, { seq, placement }: Launch): Instance {
    const { types = [], market = 'on-demand', zones = [] } = placement?.[role] ?? {};
    const [type = 'm6i.large'] = types;
    const [zone = 'us-east-1a'] = zones;
    return account.launch(region, {
      ...{ type, zone, market, subnet: `subnet-${zone}`, data: { ...data, publicIp: hasAddress } },
      ...{ tags: { 'ropewalk:role': role }, volumeTags: {}, reservation: 'r-1', clientToken: String(seq), fleet: null },
    });
  }

  return {
    launch(decision, granted, shown) {
      const { seq, slots } = decision;
      const known =
        byLaunch.get(seq) ??
        new Map(slots.slice(0, granted).map(({ slot, role }) => [slot, launchOne(role, decision)] as const));
      byLaunch.set(seq, known);
      const launched = [...known].slice(0, shown).map(([slot, instance]) => ({
        ...{ id: instance.id, slot, offer: instance.type, zone: instance.zone, price: priceNow(instance) },
      }));
      const [{ type: offer = '', zone = '', market = 'on-demand' } = {}] = known.values();
      const count = slots.length - launched.length;
      const code = 'InsufficientInstanceCapacity';
      const failure = { offer, zone, market, code, scope: 'offer' as const, text: 'no capacity', count };
      return { launched, failures: count === 0 ? [] : [failure] };
    },
    list: () =>
      all()
        .filter((instance) => instance.end === null || Date.now() < instance.end.goneAtMs)
        .map(({ id }) => id),
    isGone: (id) => find(id).end !== null,
    terminate: (ids) => ids.map(find).forEach((instance) => end(instance, 'Client.UserInitiatedShutdown')),
    lifetimes: (ids) => ids.map(find).flatMap(lifetimeOf),
    die: (id) => end(find(id), 'Server.InternalError'),
    interrupt(id, atMs) {
      const instance = find(id);
      if (instance.market !== 'spot' || instance.interruption !== null || instance.end !== null) return false;
      instance.interruption = { noticeAtMs: Date.now(), atMs };
      return true;
    },
    nextEndMs: () =>
      all().reduce<number | null>((next, { interruption, end: ended }) => {
        if (interruption === null || ended !== null) return next;
        return Math.min(next ?? Number.POSITIVE_INFINITY, interruption.atMs);
      }, null),
    takeBack: () =>
      all()
        .filter(({ interruption }) => interruption !== null && interruption.atMs <= Date.now())
        .forEach((instance) => end(instance, spotEnd)),
    entries: () => account.ledger.entries(),
    billOf: (id) => billOf(account.ledger.entries(), id),
  };
}

function lifetimeOf(instance: Instance): Lifetime[] {
  const { id, type, zone, market, tags, end, launchedAtMs } = instance;
  if (end === null || Date.now() >= end.goneAtMs + afterlifeMs) return [];
  const role = tags['ropewalk:role'] === 'head' ? ('head' as const) : ('worker' as const);
  const endedAtMs = end.code === spotEnd ? null : wholeSeconds(end.atMs);
  const times = { launchedAtMs: wholeSeconds(launchedAtMs), endedAtMs };
  const price = { ...priceNow(instance), source: 'price at its end' };
  const charged = market === 'spot' ? chargedPrices(historyOf(instance), times) : null;
  const own = { id, role, type, zone, market, ...times };
  if (charged === null) return [{ ...own, price }];
  const { microsPerHour, later } = charged;
  return [{ ...own, later, price: { ...price, microsPerHour, source: 'prices by the hour' } }];
}

/** In EC2's order, from newest to oldest, until the last change before the launch. */
function historyOf({ type, launchedAtMs }: Instance): SpotPrice[] {
  const history: SpotPrice[] = [];
  for (let atMs = Date.now() - (Date.now() % moveMs); ; atMs -= moveMs) {
    history.push({ atMs, microsPerHour: microsAt(type, 'spot', atMs) });
    if (atMs <= launchedAtMs) return history;
  }
}

/** Spot prices change this often, by up to a third. */
const moveMs = 17 * 60_000;

function priceNow({ type, market, publicIp }: Pick<Instance, 'type' | 'market' | 'publicIp'>): InstancePrice {
  const microsPerHour = microsAt(type, market, Date.now());
  const ofAddress = publicIp === null ? 0 : addressMicrosPerHour;
  return { microsPerHour, diskMicrosPerHour, addressMicrosPerHour: ofAddress, source: 'price at its launch' };
}

function microsAt(type: string, market: string, atMs: number): number {
  const known = instanceTypes.get(type);
  if (known === undefined) throw new Error(`the cloud has no type ${type}`);
  if (market !== 'spot') return Math.round(priceOf(known, 'on-demand') * 1e6);
  return Math.round(priceOf(known, 'spot') * (1 + ((Math.floor(atMs / moveMs) * 5) % 9) / 27) * 1e6);
}

/** Billed by the second, with a minimum of one minute for the instance; each hour at the price of its beginning. */
function billOf(entries: readonly LedgerEntry[], id: string): Bill {
  const launched = entries.find((entry) => entry.id === id && entry.event === 'launched');
  const ended = entries.find((entry) => entry.id === id && entry.event === 'ended');
  if (launched === undefined || ended === undefined) throw new Error(`${id} still exists`);
  const [launchedAtMs, endedAtMs] = [wholeSeconds(launched.atMs), wholeSeconds(ended.atMs)];
  const seconds = (endedAtMs - launchedAtMs) / 1_000;
  const { type, market, hasPublicIp } = launched;
  let micros = (seconds * (diskMicrosPerHour + (hasPublicIp ? addressMicrosPerHour : 0))) / 3_600;
  for (let second = 0; second < Math.max(60, seconds); second += 3_600) {
    const part = Math.min(3_600, Math.max(60, seconds) - second);
    micros += (part * microsAt(type, market, launchedAtMs + second * 1_000)) / 3_600;
  }
  return { micros, launchedAtMs, endedAtMs };
}

const wholeSeconds = (ms: number): number => Math.floor(ms / 1_000) * 1_000;
