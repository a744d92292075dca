// Applies events to a cluster's state: the outcome of a launch, an agent's report, the provider's answer about suspected instances, terminations.
// Each function changes the state in place and is idempotent.
import type { Lifetime } from '../cost/interval.ts';
import { closeInterval, openInterval } from '../cost/ledger.ts';
import { maxLaunchBackoffMs, maxUnknownLaunches, minLaunchBackoffMs } from './limits.ts';
import type { GpuReport } from '../gpu-use.ts';
import { noteGpus } from './instance/gpus.ts';
import type { Reason } from '../reason.ts';
import { addEvent, touchOrders } from './notes.ts';
import { applyDaskReport } from './dask/report.ts';
import type { DaskReport } from './dask/report.ts';
import { noteNeverRegistered, noteRegistered } from './slot/canary.ts';
import { endedWhileStarting, resetFailureStreak, failSlot, lose, reportLost } from './instance/lose.ts';
import { noteUnavailable } from './capacity/machines.ts';
import { notWanted, spotInterrupted } from './plan.ts';
import { applyRefusal, registrationRefused } from './instance/refused-registration.ts';
import { giveUpSlot } from './slot/slots.ts';
import { applyNote, type InstanceNote } from './instance/environment-notes.ts';
import { noteRunning } from './instance/stages.ts';
import { isMassLoss } from './instance/inspect.ts';
import type { LaunchedInstance } from './instance/launched.ts';
import { becomeReady, endReason, launchedInstance } from './instance/transitions.ts';
import type { ClusterInstance, ClusterState, LaunchFailure, StartingInstance } from './state.ts';
import { noteReady } from './status.ts';

export interface LaunchOutcome {
  launched: LaunchedInstance[];
  failures: LaunchFailure[];
}

/** Applies the outcome of a launch. Slots bind to the returned ids; failures are grouped and retried after a pause. */
export function applyLaunch(state: ClusterState, seq: number, outcome: LaunchOutcome, nowMs: number): void {
  const launch = state.launches.find((pending) => pending.seq === seq);
  if (launch === undefined) return;
  state.launches = state.launches.filter((pending) => pending !== launch);
  for (const item of outcome.launched) {
    if (state.instances.some((known) => known.id === item.id)) continue;
    state.launched += 1;
    const instance = launchedInstance(launch, item, state.slots[item.slot]?.generations ?? 1, nowMs);
    state.instances.push(instance);
    openInterval(state, instance);
  }
  if (outcome.launched.length > 0) {
    addEvent(state, nowMs, 'LAUNCHED', `launched ${outcome.launched.length} of ${launch.slots.length} instances`);
  }
  const isUnknown = outcome.launched.length === 0 && outcome.failures.some(({ scope }) => scope === 'unknown');
  state.unknownLaunches = isUnknown ? state.unknownLaunches + 1 : 0;
  for (const failure of outcome.failures) applyFailure(state, launch.slots, outcome, failure, nowMs);
  // An answer without an explanation must not be retried at once either.
  if (outcome.launched.length >= launch.slots.length) state.launchBackoff = null;
  else backOff(state, nowMs);
}

function applyFailure(
  state: ClusterState,
  asked: number[],
  outcome: LaunchOutcome,
  failure: LaunchFailure,
  nowMs: number,
): void {
  const known = state.failures[failure.code];
  const count = (known?.count ?? 0) + failure.count;
  state.failures[failure.code] = { count, text: failure.text, lastAtMs: nowMs };
  if (known === undefined) addEvent(state, nowMs, failure.code, failure.text);
  if (state.settings.machines !== undefined) noteUnavailable(state, failure, nowMs);
  // A wrong request or account stays wrong, so a retry would fail again.
  const { scope } = failure;
  const isHopeless = scope === 'unknown' && state.unknownLaunches >= maxUnknownLaunches;
  if (scope !== 'request' && scope !== 'account' && !isHopeless) return;
  const filled = new Set(outcome.launched.map((item) => item.slot));
  for (const slot of asked.filter((each) => !filled.has(each))) {
    giveUpSlot(state, slot, { code: failure.code, text: failure.text, atMs: nowMs });
  }
}

function backOff(state: ClusterState, nowMs: number): void {
  const delayMs = Math.min(maxLaunchBackoffMs, (state.launchBackoff?.delayMs ?? minLaunchBackoffMs / 2) * 2);
  state.launchBackoff = { delayMs, untilMs: nowMs + delayMs };
}

export interface Report extends DaskReport {
  instance: string;
  bootId: string;
  kind: 'register' | 'alive' | 'leaving' | 'refused';
  /** The number of the launch whose token the agent registers with. */
  launchSeq?: number | undefined;
  address: string;
  /** Why the agent leaves, or why the API refused its registration. */
  text?: string | undefined;
  /** The address for clients outside; sent at registration where there is one. */
  publicAddress?: string | undefined;
  hostname?: string | undefined;
  /** Uptime of the machine; sent at registration where the machine is the instance. */
  upForMs?: number | undefined;
  /** The cloud's announcement: `terminate` at the given time; `rebalance` announces a possible interruption. */
  interruption?: { kind: 'terminate' | 'rebalance'; at: string } | undefined;
  /** How the instance got its environment. */
  notes?: readonly InstanceNote[] | undefined;
  /** The number of idle GPUs. */
  gpus?: GpuReport | undefined;
}

/**
 * False for a report that only shows that the agent is alive and changes no plan: the API stores it, and the workflow's history need not contain it.
 */
export const hasChanges = ({
  kind,
  process,
  scheduler,
  drained,
  interruption,
  unansweredForMs,
  gpus,
  notes,
}: Report): boolean =>
  kind !== 'alive' ||
  [process, scheduler, drained, interruption, unansweredForMs, gpus, notes].some((each) => each !== undefined);

export type ReportVerdict = 'accepted' | 'not yet known' | 'refused';

/** Applies an agent's report. The first process to use an instance id keeps it; an id that no launch of this cluster returned is refused. */
export function applyReport(state: ClusterState, report: Report, nowMs: number): ReportVerdict {
  const instance = state.instances.find((known) => known.id === report.instance);
  if (instance === undefined) return state.launches.length > 0 ? 'not yet known' : 'refused';
  if (instance.state === 'stopping') return 'refused';
  // A token registers only the instances of its own launch.
  if (report.launchSeq !== undefined && report.launchSeq !== instance.launchSeq) return 'refused';
  if (report.kind === 'refused') {
    applyRefusal(state, instance, report.text ?? '', nowMs);
    return 'refused';
  }
  if (instance.state === 'starting') {
    if (report.kind !== 'register') return 'refused';
    register(state, instance, report, nowMs);
  }
  const { agent } = instance;
  if (agent === null || agent.bootId !== report.bootId) return 'refused';
  if (instance.state === 'ready') {
    instance.suspicion = null;
    instance.heardAtMs = nowMs;
  }
  if (state.alarm !== null && !isMassLoss(state)) state.alarm = null;
  for (const note of report.notes ?? []) applyNote(state, instance.id, note, nowMs);
  if (report.interruption !== undefined) noteInterruption(state, instance, report.interruption, nowMs);
  if (report.kind === 'leaving') {
    const text = `its agent ended in order${report.text ? `: ${report.text}` : ''}`;
    lose(state, instance, { code: 'LEFT', text, atMs: nowMs }, 'left');
    return 'accepted';
  }
  if (report.gpus !== undefined) noteGpus(state, instance, report.gpus, nowMs);
  applyDaskReport(state, instance, report, nowMs);
  return 'accepted';
}

function register(state: ClusterState, instance: StartingInstance, report: Report, nowMs: number): void {
  const { bootId, address, publicAddress = null, hostname = null } = report;
  noteRunning(instance, report.upForMs, nowMs);
  const said = { bootId, address, publicAddress, hostname, registeredAtMs: nowMs };
  becomeReady(instance, { ...said, process: null, drain: null, terminatesAtMs: null });
  noteRegistered(state);
  noteReady(state, nowMs);
}

/** Notes the interruption of a spot instance: its offer has no capacity now, and its data moves while there is time. */
function noteInterruption(
  state: ClusterState,
  instance: ClusterInstance,
  { kind, at }: NonNullable<Report['interruption']>,
  nowMs: number,
): void {
  const { id, offer, zone, agent } = instance;
  if (agent === null) return;
  const code = kind === 'terminate' ? 'SPOT_INTERRUPTED' : 'SPOT_AT_RISK';
  const text = kind === 'terminate' ? `the cloud takes ${id} back at ${at}` : `the cloud may take ${id} back soon`;
  addEvent(state, nowMs, code, text);
  const failure = { offer, zone, market: 'spot', code, scope: 'offer', text, count: 0 } as const;
  if (state.settings.machines !== undefined) noteUnavailable(state, failure, nowMs);
  if (kind !== 'terminate') return;
  agent.terminatesAtMs = Math.max(nowMs, Date.parse(at));
  // Its successor may fail before this instance has terminated.
  resetFailureStreak(state, instance, nowMs);
}

/** Removes terminated instances, which frees their slots. `lifetimes`: the cloud's start and end times of some of them. */
export function applyTerminated(
  state: ClusterState,
  ids: string[],
  nowMs: number,
  lifetimes: readonly Lifetime[] = [],
): void {
  const gone = state.instances.filter((instance) => ids.includes(instance.id));
  // An instance that never registered counts as a failure of its slot, exactly as a lost one does. An instance that was not wanted, or was terminated
  // on request before it could register, does not count.
  const isSilent = (instance: ClusterInstance): boolean =>
    instance.agent === null &&
    ![notWanted, 'GONE'].includes(endReason(instance)?.code ?? '') &&
    instance.slot < state.target;
  const failed = state.stopRequested === null ? gone.filter(isSilent) : [];
  const whyFailed = (instance: ClusterInstance): Reason => {
    const reason = endReason(instance);
    return reason?.code === registrationRefused || reason?.code === endedWhileStarting
      ? { ...reason, atMs: nowMs }
      : { code: 'NEVER_REGISTERED', text: neverRegistered(state, instance), atMs: nowMs };
  };
  for (const instance of gone)
    closeInterval(
      state,
      instance,
      lifetimes.find(({ id }) => id === instance.id),
      nowMs,
    );
  for (const instance of gone.filter(leftInOrder)) resetFailureStreak(state, instance, nowMs);
  for (const instance of failed) failSlot(state, instance, whyFailed(instance));
  for (const instance of gone) reportEnded(state, instance);
  // Its drain order ends with it.
  if (gone.some(({ agent }) => agent?.drain?.outcome === null)) touchOrders(state);
  state.instances = state.instances.filter((instance) => !ids.includes(instance.id));
  state.terminated += gone.length;
  const [last] = failed.slice(-1);
  if (last !== undefined) noteNeverRegistered(state, failed, whyFailed(last));
}

const leftInOrder = (instance: ClusterInstance): boolean =>
  [notWanted, spotInterrupted].includes(endReason(instance)?.code ?? '');

/** Reports the end of a working instance to the job, which then need not wait for its leases to expire. The job already knows of lost instances. */
function reportEnded(state: ClusterState, instance: ClusterInstance): void {
  const { id, agent } = instance;
  const reason = endReason(instance);
  if (reason === null) return;
  const isUnwanted = reason.code === notWanted && agent !== null && state.stopRequested === null;
  if (reason.code !== spotInterrupted && !isUnwanted) return;
  reportLost(state, { instance: id, code: reason.code, text: reason.text, isOrderly: true });
}

/** Names the possible remedies: the instance cannot report the cause, and its cloud found no fault. */
function neverRegistered({ settings }: ClusterState, { id }: ClusterInstance): string {
  const what = `instance ${id} was launched but its agent did not register within ${settings.registerTimeoutMs / 1000} s`;
  if (settings.machines === undefined) return `${what}; its log says why`;
  return `${what}. Check the way from its subnet to the API's public URL: a public address or a NAT gateway, a route, the outbound rules of its security group or firewall; and that its instance profile or service account exists`;
}
