// Independent records of a simulated Dask cluster: the checks compare the rules with these records instead of the rules' own state.
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
/** An agent may report the outcome of a drain until this long after the drain's deadline. */
export const drainGraceMs = 15_000;

/** The longest duration of an agent's report, including its second attempt. */
export const agentRetryMs = 25_000;

export type Effect = Extract<Decision, { kind: 'launch' | 'terminate' | 'inspect' }>;

export interface DaskSimulation {
  rules: DaskRules;
  state: ClusterState;
  settings: DaskSettings;
  /** When the API last heard each agent, and since when without a gap. */
  heard: Map<string, { heardAtMs: number; sinceMs: number }>;
  nowMs: number;
  /** Decided and not answered yet. */
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
  /** Interrupted workers and their termination times: they claim no slot any more. */
  interrupted: Map<string, number>;
  stop: string | null;
  schedulerStarted: boolean;
  /** The scheduler has started, and a worker too if any was requested. */
  everStarted: boolean;
  /** How long the scheduler had been unresponsive at its agent's last report. */
  unansweredForMs: number | null;
  /** When the head was last heard, and when it was first heard again after a silence. */
  headHeardMs: number;
  headAgainMs: number;
  idleSinceMs: number | null;
  noClientSinceMs: number | null;
  noClientTimeoutMs: number | null;
  adaptive: Adaptive | null;
  /** The adaptive targets that Dask reported. */
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

/** It may be scaled in: a worker that runs or will run. */
export const isServing = ({ books }: DaskSimulation, instance: ClusterInstance): boolean =>
  instance.slot > 0 &&
  isLive(instance) &&
  instance.state !== 'error' &&
  !instance.agent?.drain &&
  !books.interrupted.has(instance.id);

export function headOf(state: ClusterState): ClusterInstance | undefined {
  return state.instances.find((instance) => instance.slot === 0 && isLive(instance));
}

/** The ends that are due by time alone, each with its code, according to the books. */
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

/** Longer than the interval between two reports of an agent. */
const gapMs = (settings: DaskSettings): number => settings.aliveEveryMs + agentRetryMs;

/** The API hears an agent. */
export function noteApiHeard({ heard, settings, nowMs }: DaskSimulation, id: string): void {
  const known = heard.get(id);
  const isGap = known === undefined || nowMs >= known.heardAtMs + gapMs(settings);
  heard.set(id, { heardAtMs: nowMs, sinceMs: isGap ? nowMs : known.sinceMs });
}

/** The last reports that the API knows. */
export const heardOf = ({ heard }: DaskSimulation, ids: string[]): Heard[] =>
  ids.flatMap((instance) => {
    const known = heard.get(instance);
    return known === undefined ? [] : [{ instance, ...known }];
  });

/** The head's agent reports, as it should at least every `aliveEveryMs`. */
export function noteHeadHeard({ books, settings, nowMs }: DaskSimulation): void {
  const wasSilent = nowMs >= books.headHeardMs + settings.aliveEveryMs + agentRetryMs;
  if (wasSilent && books.headHeardMs > 0) books.headAgainMs = nowMs;
  books.headHeardMs = nowMs;
}

/** Recorded after every step: a start, once reached, is never undone. */
export function noteProgress({ state, books }: DaskSimulation): void {
  const head = headOf(state);
  if (head !== undefined && hasStarted(head)) books.schedulerStarted = true;
  const worker = state.instances.some((instance) => instance.slot > 0 && hasStarted(instance));
  if (books.schedulerStarted && (worker || state.target === 1)) books.everStarted = true;
}

/** An agent that waits for orders gets a reply when the version grows. Each change of the orders must therefore raise the version. */
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
