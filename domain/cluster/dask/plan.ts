// Decides when a Dask cluster ends by itself, which workers to drain, and when to ask the API about its head. Pure functions of the state, used by
// plan.ts.
import { spellDuration } from '../../units.ts';
import { scaleInAfterMs } from './adaptive-settings.ts';
import { windowsOf, type Window } from './heard.ts';
import type { Wake } from '../../wake.ts';
import { isExtra } from '../slot/slots.ts';
import type { ClusterInstance, ClusterState, DaskSettings, DaskState } from '../state.ts';
import { unresponsiveEnd } from './unresponsive.ts';
import { groupedFailures, isSettled } from '../status.ts';

export interface End {
  code: string;
  text: string;
}

export interface DrainOrder {
  instance: string;
  id: number;
  worker: string;
  deadlineMs: number;
  adaptive: boolean;
}

/** After a drain's deadline the agent has this long to report the outcome. */
const drainGraceMs = 15_000;

/** Returns the reason why this cluster ends now, or null. */
export function daskEnd(state: ClusterState, nowMs: number): End | null {
  const { dask } = state;
  const settings = state.settings.dask;
  if (dask === null || settings === null || state.stopRequested !== null) return null;
  return (
    schedulerEnd(state, dask) ??
    unresponsiveEnd(dask, settings) ??
    startEnd(state, settings, nowMs) ??
    timedEnd(state, dask, settings, nowMs)
  );
}

/** A lost scheduler loses all keys and results, so it cannot be replaced within the cluster. */
function schedulerEnd(state: ClusterState, dask: DaskState): End | null {
  const head = state.instances.find((instance) => instance.slot === 0 && instance.state !== 'stopping');
  if (dask.schedulerAddress !== null && (head === undefined || head.state === 'error')) {
    return { code: 'SCHEDULER_LOST', text: `the scheduler is gone: ${head?.reason?.text ?? 'its instance has ended'}` };
  }
  const givenUp = state.slots[0]?.givenUp;
  return givenUp ? { code: 'START_FAILED', text: `the scheduler could not be started: ${givenUp.text}` } : null;
}

function startEnd(state: ClusterState, settings: DaskSettings, nowMs: number): End | null {
  if (hasStarted(state)) return null;
  const startByMs = startDeadlineMs(state, settings);
  if (startByMs !== null && nowMs >= startByMs) {
    const text = `no worker had started after ${settings.startTimeoutMs / 1000} s${groupedFailures(state)}`;
    return { code: 'START_FAILED', text };
  }
  return state.target > 1 && isSettled(state)
    ? { code: 'START_FAILED', text: `no worker could be started${groupedFailures(state)}` }
    : null;
}

/** For a cluster that waits for capacity, the start timeout begins when the wait ends. */
function startDeadlineMs(state: ClusterState, { startTimeoutMs }: DaskSettings): number | null {
  if (state.settings.machines?.waitForCapacityMs === undefined) return state.createdAtMs + startTimeoutMs;
  return state.waiting !== null ? null : Math.max(state.createdAtMs, state.waitedUntilMs ?? 0) + startTimeoutMs;
}

/** True once the scheduler and, if workers were requested, at least one worker have started. Later losses of workers do not change it. */
function hasStarted(state: ClusterState): boolean {
  return state.dask !== null && state.dask.schedulerAddress !== null && state.dask.startedOnce;
}

function timedEnd(state: ClusterState, dask: DaskState, settings: DaskSettings, nowMs: number): End | null {
  const due = deadlines(state, dask, settings).find(({ atMs, untilMs }) => nowMs >= atMs && nowMs < untilMs);
  return due === undefined ? null : { code: due.code, text: due.text };
}

function deadlines(state: ClusterState, dask: DaskState, settings: DaskSettings): (End & Window & Wake)[] {
  const { maxLifetimeMs } = settings;
  const found = headDeadlines(dask, settings).flatMap((end) =>
    windowsOf(dask, settings, end.atMs).map((window) => ({ ...end, ...window })),
  );
  if (maxLifetimeMs === null) return found;
  const end = { code: 'LIFETIME', text: `it reached its maximum lifetime of ${spellDuration(maxLifetimeMs)}` };
  const window = { atMs: state.createdAtMs + maxLifetimeMs, untilMs: Number.POSITIVE_INFINITY };
  return [...found, { ...end, ...window, what: 'maximum lifetime ends at' }];
}

/** Deadlines that a report of the head's agent would postpone. */
function headDeadlines(dask: DaskState, { idleTimeoutMs, noClientTimeoutMs }: DaskSettings): (End & Wake)[] {
  const { idleSinceMs, noClientSinceMs } = dask;
  const found: (End & Wake)[] = [];
  if (idleSinceMs !== null) {
    const text = `nothing was computed for ${spellDuration(idleTimeoutMs)}`;
    found.push({ code: 'IDLE', text, what: 'idle timeout at', atMs: idleSinceMs + idleTimeoutMs });
  }
  if (noClientSinceMs !== null && noClientTimeoutMs !== null) {
    const text = `no client was connected for ${spellDuration(noClientTimeoutMs)}`;
    found.push({ code: 'NO_CLIENT', text, what: 'no-client timeout at', atMs: noClientSinceMs + noClientTimeoutMs });
  }
  return found;
}

/** Extra or interrupted workers with a started process: they are drained before they are terminated. */
export function drainsWanted(state: ClusterState, nowMs: number): DrainOrder[] {
  const { dask } = state;
  const settings = state.settings.dask;
  if (dask === null || settings === null || state.stopRequested !== null) return [];
  return state.instances
    .filter((instance) => needsDrain(state, instance))
    .map((instance, index) => ({
      instance: instance.id,
      id: dask.nextDrainId + index,
      worker: instance.agent?.process?.name ?? '',
      deadlineMs: Math.min(nowMs + settings.drainTimeoutMs, instance.agent?.terminatesAtMs ?? Number.POSITIVE_INFINITY),
      // An interrupted instance cannot stay.
      adaptive: dask.adaptive !== null && !isInterrupted(instance),
    }));
}

export function needsDrain(state: ClusterState, instance: ClusterInstance): boolean {
  if (state.dask === null || instance.agent?.drain) return false;
  if (!isExtra(state, instance) && (!isInterrupted(instance) || instance.role === 'head')) return false;
  const canDrain = state.instances.some((head) => head.slot === 0 && head.agent?.process?.state === 'started');
  return canDrain && instance.state === 'ready' && instance.agent.process?.state === 'started';
}

const isInterrupted = ({ agent }: ClusterInstance): boolean => agent !== null && agent.terminatesAtMs !== null;

export function isDraining({ agent }: ClusterInstance, nowMs: number): boolean {
  const drain = agent?.drain ?? null;
  return drain !== null && drain.outcome === null && nowMs < drain.deadlineMs + drainGraceMs;
}

/** Returns the head instance when a deadline has passed that only its agent could postpone, and its agent was not heard recently. */
export function headToHear(state: ClusterState, nowMs: number): string | null {
  const { dask } = state;
  const settings = state.settings.dask;
  if (dask?.heard === undefined || settings === null || overdueMs(state, nowMs) === null) return null;
  if (dask.headAsked?.underWay === true || nowMs < (dask.headAsked?.nextMs ?? 0)) return null;
  if (timedEnd(state, dask, settings, nowMs) !== null) return null;
  return state.instances.find(({ slot, state: is }) => slot === 0 && is !== 'stopping')?.id ?? null;
}

/** Time since the first passed deadline that only the head could postpone; null when none has passed. */
export function overdueMs({ dask, settings }: ClusterState, nowMs: number): number | null {
  if (dask === null || settings.dask === null) return null;
  const passed = headDeadlines(dask, settings.dask).filter(({ atMs }) => nowMs >= atMs);
  return passed.length === 0 ? null : Math.max(...passed.map(({ atMs }) => nowMs - atMs));
}

/** Times at which the plan changes without an event. */
export function daskWakes(state: ClusterState): Wake[] {
  const { dask } = state;
  const settings = state.settings.dask;
  if (dask === null || settings === null) return [];
  const drains = state.instances.flatMap(({ agent }) =>
    !agent?.drain
      ? []
      : [{ atMs: agent.drain.deadlineMs + drainGraceMs, what: `drain of ${agent.drain.worker} must end by` }],
  );
  const startMs = hasStarted(state) ? null : startDeadlineMs(state, settings);
  return [
    ...drains,
    ...(startMs === null ? [] : [{ atMs: startMs, what: 'a worker must have started by' }]),
    ...scaleInWakes(dask),
    ...headDeadlines(dask, settings),
    ...deadlines(state, dask, settings),
    ...(dask.headAsked?.underWay === false
      ? [{ atMs: dask.headAsked.nextMs, what: 'next question for the head at' }]
      : []),
  ];
}

function scaleInWakes({ fewer: [first], adaptive }: DaskState): Wake[] {
  if (first === undefined || adaptive === null) return [];
  return [{ atMs: first.sinceMs + scaleInAfterMs(adaptive), what: 'adaptive scale-in at' }];
}
