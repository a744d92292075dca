// What an onlooker of a simulated Dask cluster writes down for itself, so that its checks do not depend on what the rules
// say of themselves.
import type { Adaptive } from '../../domain/cluster/dask/adaptive-settings.ts';
import type { Decision } from '../../domain/cluster/plan.ts';
import type { ClusterInstance, ClusterState, DaskSettings } from '../../domain/cluster/state.ts';
import type { Heard } from '../../domain/cluster/instance/suspicion.ts';
import { maxWatchdogTimeoutMs } from '../../domain/liveness/limits.ts';
import type { DaskRules } from './rules.ts';
import { type Met, must } from './simulations.ts';

export const daskSubjects = [
  'stop',
  'drain',
  'drain past its deadline',
  'worker kept',
  'drain undone by a loss',
  'scale down',
  'worker moved',
  'adaptive up',
  'adaptive down',
  'stale report',
  'environment failed',
  'process lost',
  'worker vanished',
  'silence',
  'scheduler lost',
  'unresponsive',
  'answers again',
  'unresponsive too long',
  'start failed',
  'idle',
  'no client',
  'lifetime',
  'late outcome',
  'unheard',
  'interrupted',
] as const;
export type DaskSubject = (typeof daskSubjects)[number];

export const bornAtMs = 1_000_000;
export const registerTimeoutMs = 120_000;
/** After a drain's deadline its agent has this long to say how it went. */
export const drainGraceMs = 15_000;

/** What an agent's report takes at most, with its second attempt. */
export const agentRetryMs = 25_000;

export type Effect = Extract<Decision, { kind: 'launch' | 'terminate' | 'inspect' }>;

export interface DaskSimulation {
  rules: DaskRules;
  state: ClusterState;
  settings: DaskSettings;
  /** When the API heard each agent last, and since when without a gap. */
  heard: Map<string, { heardAtMs: number; sinceMs: number }>;
  nowMs: number;
  /** Decided on, not answered yet. */
  effects: Effect[];
  born: number;
  books: Books;
  met: Met<DaskSubject>;
}

export interface Books {
  /** The last orders of the agents, without their version. */
  orders: string;
  version: number;
  newestDrain: number;
  drains: { id: number; instance: string; deadlineMs: number; outcome: string | null }[];
  /** Workers whose cloud has said when it takes them back: they claim no slot any more. */
  interrupted: Map<string, number>;
  stop: string | null;
  schedulerStarted: boolean;
  /** The scheduler, and a worker if any was wanted, have been there. */
  everStarted: boolean;
  /** How long the scheduler had not answered when its agent last spoke of it. */
  unansweredForMs: number | null;
  /** When the head was heard last, and when it was heard again after a silence. */
  headHeardMs: number;
  headAgainMs: number;
  idleSinceMs: number | null;
  noClientSinceMs: number | null;
  noClientTimeoutMs: number | null;
  adaptive: Adaptive | null;
  /** What Dask asked for, as it said it. */
  targets: { atMs: number; workers: number | null }[];
}

export function openBooks(settings: DaskSettings): Books {
  return {
    orders: '',
    version: 0,
    newestDrain: 0,
    drains: [],
    interrupted: new Map(),
    stop: null,
    schedulerStarted: false,
    everStarted: false,
    unansweredForMs: null,
    headHeardMs: 0,
    headAgainMs: -agentRetryMs,
    idleSinceMs: null,
    noClientSinceMs: null,
    noClientTimeoutMs: settings.noClientTimeoutMs,
    adaptive: null,
    targets: [],
  };
}

export const isLive = (instance: ClusterInstance): boolean => instance.state !== 'stopping';

/** Its Dask process runs. */
export const hasStarted = (instance: ClusterInstance): boolean =>
  instance.state === 'ready' && instance.agent?.process?.state === 'started';

/** The state without its log, which no rule reads. */
export const quiet = (state: ClusterState): string => JSON.stringify({ ...state, events: [], history: null });

/** It may be scaled away: a worker that works, or will. */
export const isServing = ({ books }: DaskSimulation, instance: ClusterInstance): boolean =>
  instance.slot > 0 &&
  isLive(instance) &&
  instance.state !== 'error' &&
  !instance.agent?.drain &&
  !books.interrupted.has(instance.id);

export function headOf(state: ClusterState): ClusterInstance | undefined {
  return state.instances.find((instance) => instance.slot === 0 && isLive(instance));
}

/** When time alone must have ended the cluster, with the code; by the books. */
export function dueEnds({ state, settings, books }: DaskSimulation): { code: string; atMs: number; untilMs: number }[] {
  const { idleSinceMs, noClientSinceMs, noClientTimeoutMs, headHeardMs, headAgainMs } = books;
  const always = Number.POSITIVE_INFINITY;
  const ends: { code: string; atMs: number; untilMs: number }[] = [];
  const unlessUnheard = (code: string, atMs: number): void => {
    const untilMs = headHeardMs + settings.aliveEveryMs + agentRetryMs;
    ends.push({ code, atMs: Math.max(atMs, headAgainMs + agentRetryMs), untilMs });
    ends.push({ code, atMs: Math.max(atMs, headHeardMs + maxWatchdogTimeoutMs), untilMs: always });
  };
  if (!books.everStarted) {
    ends.push({ code: 'START_FAILED', atMs: bornAtMs + settings.startTimeoutMs, untilMs: always });
  }
  if (idleSinceMs !== null) unlessUnheard('IDLE', idleSinceMs + settings.idleTimeoutMs);
  if (noClientSinceMs !== null && noClientTimeoutMs !== null) {
    unlessUnheard('NO_CLIENT', noClientSinceMs + noClientTimeoutMs);
  }
  if (settings.maxLifetimeMs !== null) {
    ends.push({ code: 'LIFETIME', atMs: state.createdAtMs + settings.maxLifetimeMs, untilMs: always });
  }
  return ends;
}

/** Longer than an agent takes from one sign of life to the next. */
const gapMs = (settings: DaskSettings): number => settings.aliveEveryMs + agentRetryMs;

/** The API hears an agent. */
export function noteApiHeard({ heard, settings, nowMs }: DaskSimulation, id: string): void {
  const known = heard.get(id);
  const isGap = known === undefined || nowMs >= known.heardAtMs + gapMs(settings);
  heard.set(id, { heardAtMs: nowMs, sinceMs: isGap ? nowMs : known.sinceMs });
}

/** What the API knows. */
export const heardOf = ({ heard }: DaskSimulation, ids: string[]): Heard[] =>
  ids.flatMap((instance) => {
    const known = heard.get(instance);
    return known === undefined ? [] : [{ instance, ...known }];
  });

/** The head's agent speaks, as it should at least every `aliveEveryMs`. */
export function noteHeadHeard({ books, settings, nowMs }: DaskSimulation): void {
  const wasSilent = nowMs >= books.headHeardMs + settings.aliveEveryMs + agentRetryMs;
  if (wasSilent && books.headHeardMs > 0) books.headAgainMs = nowMs;
  books.headHeardMs = nowMs;
}

/** Written after every step: what has been reached can never be undone. */
export function noteProgress({ state, books }: DaskSimulation): void {
  const head = headOf(state);
  if (head !== undefined && hasStarted(head)) books.schedulerStarted = true;
  const worker = state.instances.some((instance) => instance.slot > 0 && hasStarted(instance));
  if (books.schedulerStarted && (worker || state.target === 1)) books.everStarted = true;
}

/** Agents who wait for orders are answered when the version has grown: so it must, whenever the orders are others. */
export function checkOrders({ rules, state, books }: DaskSimulation): void {
  const orders = rules.ordersOf(state);
  must(orders !== null, () => 'a Dask cluster without orders');
  const { version, ...rest } = orders;
  const found = JSON.stringify(rest);
  must(version >= books.version, () => 'the version of the orders went back');
  must(found === books.orders || version > books.version, () => `new orders, old version: ${books.orders} -> ${found}`);
  books.orders = found;
  books.version = version;
}
