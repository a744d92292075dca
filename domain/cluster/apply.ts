// What a cluster learns: the outcome of a launch, an agent's report, what the provider says of suspects, what is gone.
// Each function changes the state in place and may be given the same news twice.
import { maxLaunchBackoffMs, maxUnclearLaunches, minLaunchBackoffMs } from '../limits.ts';
import type { Reason } from '../reason.ts';
import { addEvent, touchOrders } from './notes.ts';
import { applyDaskNews } from './dask/news.ts';
import type { DaskNews } from './dask/news.ts';
import { noteNeverRegistered, noteRegistered } from './slot/doubt.ts';
import { endRow, failSlot, lose, tellLost } from './instance/lose.ts';
import { noteUnavailable } from './capacity/machines.ts';
import { notWanted, takenBack } from './plan.ts';
import { applyRefusal, registrationRefused } from './instance/refused-registration.ts';
import { slotHistory } from './slot/slots.ts';
import { noteRunning } from './instance/stages.ts';
import { isMassLoss } from './instance/inspect.ts';
import type { ClusterInstance, ClusterState, LaunchFailure } from './state.ts';
import { noteReady } from './view.ts';

export interface LaunchNews {
  launched: { id: string; slot: number; offer: string; zone: string }[];
  failures: LaunchFailure[];
}

/** A launch has answered. Slots bind to the ids that came back; what failed is grouped and tried again after a pause. */
export function applyLaunch(state: ClusterState, seq: number, news: LaunchNews, nowMs: number): void {
  const launch = state.launches.find((pending) => pending.seq === seq);
  if (launch === undefined) return;
  state.launches = state.launches.filter((pending) => pending !== launch);
  for (const item of news.launched) {
    if (state.instances.some((known) => known.id === item.id)) continue;
    state.launched += 1;
    state.instances.push({
      id: item.id,
      slot: item.slot,
      generation: state.slots[item.slot]?.generations ?? 1,
      role: item.slot === 0 ? 'head' : 'worker',
      state: 'starting',
      launchSeq: seq,
      launchedAtMs: nowMs,
      registeredAtMs: null,
      bootId: null,
      address: null,
      offer: item.offer,
      zone: item.zone,
      reason: null,
      suspicion: null,
      heardAtMs: nowMs,
      process: null,
      drain: null,
      stages: { requestedAtMs: launch.atMs },
    });
  }
  if (news.launched.length > 0) {
    addEvent(state, nowMs, 'LAUNCHED', `launched ${news.launched.length} of ${launch.slots.length} instances`);
  }
  const isUnclear = news.launched.length === 0 && news.failures.some(({ scope }) => scope === 'unclear');
  state.unclearLaunches = isUnclear ? state.unclearLaunches + 1 : 0;
  for (const failure of news.failures) applyFailure(state, launch.slots, news, failure, nowMs);
  // Also an answer that explains nothing must not be asked for again at once.
  if (news.launched.length >= launch.slots.length) state.launchBackoff = null;
  else backOff(state, nowMs);
}

function applyFailure(
  state: ClusterState,
  asked: number[],
  news: LaunchNews,
  failure: LaunchFailure,
  nowMs: number,
): void {
  const known = state.failures[failure.code];
  const count = (known?.count ?? 0) + failure.count;
  state.failures[failure.code] = { count, text: failure.text, lastAtMs: nowMs };
  if (known === undefined) addEvent(state, nowMs, failure.code, failure.text);
  if (state.settings.machines !== undefined) noteUnavailable(state, failure, nowMs);
  // A request or an account that is wrong stays wrong: trying again would only fail again.
  const { scope } = failure;
  const isHopeless = scope === 'unclear' && state.unclearLaunches >= maxUnclearLaunches;
  if (scope !== 'request' && scope !== 'account' && !isHopeless) return;
  const filled = new Set(news.launched.map((item) => item.slot));
  for (const slot of asked.filter((each) => !filled.has(each))) {
    slotHistory(state, slot).givenUp = { code: failure.code, text: failure.text, atMs: nowMs };
  }
}

function backOff(state: ClusterState, nowMs: number): void {
  const delayMs = Math.min(maxLaunchBackoffMs, (state.launchBackoff?.delayMs ?? minLaunchBackoffMs / 2) * 2);
  state.launchBackoff = { delayMs, untilMs: nowMs + delayMs };
}

export interface Report extends DaskNews {
  instance: string;
  bootId: string;
  kind: 'register' | 'alive' | 'leaving' | 'refused';
  address: string;
  /** Why it leaves, or why the API refused its registration. */
  text?: string | undefined;
  /** For clients outside; said when it registers, where it has them. */
  publicAddress?: string | undefined;
  hostname?: string | undefined;
  /** How long its machine is up; said when it registers, where the machine is the instance. */
  upForMs?: number | undefined;
  /** What the cloud announced: `terminate` takes the instance back then, `rebalance` says that it may soon. */
  interruption?: { kind: 'terminate' | 'rebalance'; at: string } | undefined;
}

export type ReportVerdict = 'accepted' | 'not yet known' | 'refused';

/** An agent speaks. First use of an instance id wins; an id that no launch of ours returned is refused. */
export function applyReport(state: ClusterState, report: Report, nowMs: number): ReportVerdict {
  const instance = state.instances.find((known) => known.id === report.instance);
  if (instance === undefined) return state.launches.length > 0 ? 'not yet known' : 'refused';
  if (instance.state === 'stopping') return 'refused';
  if (report.kind === 'refused') {
    applyRefusal(state, instance, report.text ?? '', nowMs);
    return 'refused';
  }
  if (instance.bootId !== null && instance.bootId !== report.bootId) return 'refused';
  if (instance.bootId === null && report.kind !== 'register') return 'refused';
  instance.suspicion = null;
  instance.heardAtMs = nowMs;
  if (state.alarm !== null && !isMassLoss(state)) state.alarm = null;
  if (report.interruption !== undefined) noteInterruption(state, instance, report.interruption, nowMs);
  if (report.kind === 'leaving') {
    const text = `its agent ended in order${report.text ? `: ${report.text}` : ''}`;
    lose(state, instance, { code: 'LEFT', text, atMs: nowMs }, 'left');
    return 'accepted';
  }
  if (instance.state === 'starting') {
    instance.bootId = report.bootId;
    instance.address = report.address;
    if (report.publicAddress !== undefined) instance.publicAddress = report.publicAddress;
    if (report.hostname !== undefined) instance.hostname = report.hostname;
    instance.registeredAtMs = nowMs;
    delete instance.lateness;
    noteRegistered(state);
    instance.state = 'ready';
    noteRunning(instance, report.upForMs, nowMs);
    noteReady(state, nowMs);
  }
  applyDaskNews(state, instance, report, nowMs);
  return 'accepted';
}

/** A spot instance is going: where it was there is no room now, and what it holds is moved while there is time. */
function noteInterruption(
  state: ClusterState,
  instance: ClusterInstance,
  { kind, at }: NonNullable<Report['interruption']>,
  nowMs: number,
): void {
  const { id, offer, zone } = instance;
  const code = kind === 'terminate' ? 'SPOT_INTERRUPTED' : 'SPOT_AT_RISK';
  const text = kind === 'terminate' ? `the cloud takes ${id} back at ${at}` : `the cloud may take ${id} back soon`;
  addEvent(state, nowMs, code, text);
  const failure = { offer, zone, market: 'spot', code, scope: 'offer', text, count: 0 } as const;
  if (state.settings.machines !== undefined) noteUnavailable(state, failure, nowMs);
  if (kind !== 'terminate') return;
  instance.leavesAtMs = Math.max(nowMs, Date.parse(at));
  // Its successor may fail before it has gone.
  endRow(state, instance, nowMs);
}

/** Terminated instances are gone for good: their slots are free again. */
export function applyTerminated(state: ClusterState, ids: string[], nowMs: number): void {
  const gone = state.instances.filter((instance) => ids.includes(instance.id));
  // An instance that never registered has failed its slot, exactly as a lost one has; one that we had no use for has not.
  const isSilent = (instance: ClusterInstance): boolean =>
    instance.registeredAtMs === null && instance.reason?.code !== notWanted && instance.slot < state.target;
  const failed = state.stopRequested === null ? gone.filter(isSilent) : [];
  const reasonOf = (instance: ClusterInstance): Reason =>
    instance.reason?.code === registrationRefused
      ? { ...instance.reason, atMs: nowMs }
      : { code: 'NEVER_REGISTERED', text: neverRegistered(state, instance), atMs: nowMs };
  for (const instance of gone.filter(leftInOrder)) endRow(state, instance, nowMs);
  for (const instance of failed) failSlot(state, instance, reasonOf(instance));
  for (const instance of gone) tellEnded(state, instance);
  // An order to empty it goes with it.
  if (gone.some(({ drain }) => drain !== null && drain.outcome === null)) touchOrders(state);
  state.instances = state.instances.filter((instance) => !ids.includes(instance.id));
  state.terminated += gone.length;
  const [last] = failed.slice(-1);
  if (last !== undefined) noteNeverRegistered(state, failed, reasonOf(last));
}

const leftInOrder = ({ reason }: ClusterInstance): boolean => reason?.code === notWanted || reason?.code === takenBack;

/** It may have been working to the last: its job need not wait until leases run out. Of whoever was lost it knows already. */
function tellEnded(state: ClusterState, { id, registeredAtMs, reason }: ClusterInstance): void {
  if (reason === null) return;
  const isUnwanted = reason.code === notWanted && registeredAtMs !== null && state.stopRequested === null;
  if (reason.code !== takenBack && !isUnwanted) return;
  tellLost(state, { instance: id, code: reason.code, text: reason.text, isOrderly: true });
}

/** What people can do about it: the instance itself cannot say, and its cloud saw nothing wrong. */
function neverRegistered({ settings }: ClusterState, { id }: ClusterInstance): string {
  const what = `instance ${id} was launched but its agent did not register within ${settings.registerTimeoutMs / 1000} s`;
  if (settings.machines === undefined) return `${what}; its log says why`;
  return `${what}. Check the way from its subnet to the API's public URL: a public address or a NAT gateway, a route, the outbound rules of its security group; and that its instance profile exists`;
}
