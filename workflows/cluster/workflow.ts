// The workflow of a cluster. It plans from its state, writes each decision's intent into the state, and carries the decision out in the background
// while reports and signals arrive. `planCluster` decides; this loop only waits.
import {
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';

import { hasChanges } from '../../domain/cluster/apply.ts';
import { recordChanges } from '../../domain/cluster/changes.ts';
import { suspectInstances } from '../../domain/cluster/instance/inspect.ts';
import { watchCost } from '../../domain/cluster/cost-limit.ts';
import { watchIdle } from '../../domain/cluster/idle-warning.ts';
import { watchCapacity } from '../../domain/cluster/capacity/wait.ts';
import { createClusterState } from '../../domain/cluster/create.ts';
import { adaptCluster, adaptNow } from '../../domain/cluster/dask/adaptive.ts';
import { keepAlive } from '../../domain/cluster/dask/report.ts';
import { releaseInstances } from '../../domain/cluster/slot/release.ts';
import { type Decision, intend, isEnding, planCluster } from '../../domain/cluster/plan.ts';
import { holdLaunches, scaleCluster, stopCluster } from '../../domain/cluster/requests.ts';
import { decisionsToResume, inspectAgain, isQuestion, isRepeatable } from '../../domain/cluster/resume.ts';
import type { ClusterState } from '../../domain/cluster/state.ts';
import { usageToNote, usageWasNoted } from '../../domain/cluster/usage.ts';
import { shownCluster } from '../../domain/cluster/status.ts';
import { maxLeavingMs } from '../../domain/run-length.ts';
import { describeWake, earliest } from '../../domain/wake.ts';
import { onCancelRequest } from '../cancellation.ts';
import { answerEach } from '../flush.ts';
import type { Flush, FlushAnswer } from '../../contracts/flush.ts';
import { shouldContinueAsNew } from '../continuing.ts';
import { createRecordWriter } from '../record-writer.ts';
import { carryOut, finish, loadSettings, tagStatus, writeView } from './execute.ts';
import { clusterMessages } from '../../contracts/cluster.ts';
import type {
  AdaptSignal,
  ClusterInput,
  ClusterView,
  HoldSignal,
  ReleaseInstancesSignal,
  KeepaliveSignal,
  ReportAnswer,
  ReportItem,
  ScaleSignal,
  StopSignal,
  SuspectSignal,
} from '../../contracts/cluster.ts';
import { report } from './report.ts';
import { pendingCluster, viewCluster } from '../../views/cluster.ts';
import { describeCluster } from './describe.ts';

const reportUpdate = defineUpdate<FlushAnswer<ReportAnswer>, [Flush<ReportItem>]>(clusterMessages.report);
const scaleSignal = defineSignal<[ScaleSignal]>(clusterMessages.scale);
const releaseInstancesSignal = defineSignal<[ReleaseInstancesSignal]>(clusterMessages.releaseInstances);
const adaptSignal = defineSignal<[AdaptSignal]>(clusterMessages.adapt);
const keepaliveSignal = defineSignal<[KeepaliveSignal]>(clusterMessages.keepalive);
const suspectSignal = defineSignal<[SuspectSignal]>(clusterMessages.suspect);
const holdSignal = defineSignal<[HoldSignal]>(clusterMessages.hold);
const stopSignal = defineSignal<[StopSignal]>(clusterMessages.stop);
const viewQuery = defineQuery<ClusterView>(clusterMessages.view);
const versionQuery = defineQuery<number>(clusterMessages.version);

export async function cluster(input: ClusterInput): Promise<ClusterView> {
  const createdAtMs = Date.now();
  let state = input.carry ?? (input.settings === null ? null : createState(input, createdAtMs, input.settings));
  // Signals that arrive before the specification has been read are applied right after.
  const early: ((known: ClusterState) => void)[] = [];
  const changes = createChanges();
  const change = (how: (known: ClusterState) => void): void => {
    if (state === null) early.push(how);
    else how(state);
    changes.note();
  };
  setHandler(reportUpdate, (flush) => {
    // Waking the loop for a report without changes would cost two events each time.
    if (flush.items.some(hasChanges)) changes.note();
    return answerEach(flush, (item) => report(state, item));
  });
  setHandler(scaleSignal, ({ instances, ...asked }) =>
    change((known) => scaleCluster(known, instances, Date.now(), asked)),
  );
  setHandler(adaptSignal, ({ adaptive, ...asked }) =>
    change((known) => adaptCluster(known, adaptive, Date.now(), asked)),
  );
  setHandler(releaseInstancesSignal, ({ instances }) =>
    change((known) => releaseInstances(known, instances, Date.now())),
  );
  setHandler(keepaliveSignal, (signal) => change((known) => keepAlive(known, signal.noClientTimeoutMs, Date.now())));
  setHandler(suspectSignal, ({ instances }) => change((known) => suspectInstances(known, instances, Date.now())));
  setHandler(holdSignal, ({ why }) => change((known) => holdLaunches(known, why, Date.now())));
  const stop = (why: StopSignal): void => change((known) => stopCluster(known, { ...why, atMs: Date.now() }));
  setHandler(stopSignal, stop);
  setHandler(viewQuery, () => (state === null ? pendingCluster(input, createdAtMs) : viewCluster(state, input)));

  setHandler(versionQuery, () => state?.projection.version ?? 0);

  const onRequest = (): void => stop({ code: 'CANCELLED', text: 'its workflow was cancelled in Temporal' });
  return onCancelRequest(onRequest, async () => {
    state ??= createState(input, createdAtMs, await loadSettings(input));
    for (const how of early) how(state);
    return run(state, input, changes);
  });
}

function createState(
  { number, workspace, user }: ClusterInput,
  createdAtMs: number,
  settings: ClusterState['settings'],
): ClusterState {
  return createClusterState({ number, workspace, user, createdAtMs }, settings);
}

interface Changes {
  clear: () => void;
  note: () => void;
  any: () => boolean;
}

function createChanges(): Changes {
  let any = true;
  return { clear: () => void (any = false), note: () => void (any = true), any: () => any };
}

/** Plans and acts until a stop was requested and all instances have ended. */
async function run(state: ClusterState, input: ClusterInput, changes: Changes): Promise<ClusterView> {
  const inFlight = new Set<Decision>();
  const writer = createRecordWriter({
    projection: state.projection,
    shown: () => shownCluster(state),
    writeView: (version) => writeView(state, version),
    usage: { next: () => usageToNote(state), wasNoted: (usage) => usageWasNoted(state, usage) },
    onEnd: () => changes.note(),
  });
  const isQuiet = (): boolean => inFlight.size === 0 && !writer.isBusy();
  /** When a run that wants to continue as new stops waiting for decisions that the next run can repeat. */
  let waitsUntilMs: number | null = null;
  const canContinue = (nowMs: number): boolean =>
    isQuiet() ||
    (waitsUntilMs !== null && nowMs >= waitsUntilMs && !writer.isBusy() && [...inFlight].every(isRepeatable));
  const begin = (decision: Decision): void => {
    inFlight.add(decision);
    void carryOut(state, input, decision).then(() => {
      inFlight.delete(decision);
      changes.note();
    });
  };
  for (;;) {
    changes.clear();
    const nowMs = Date.now();
    const isLeaving = shouldContinueAsNew();
    if (isLeaving) waitsUntilMs ??= nowMs + maxLeavingMs;
    if (state.dask !== null) adaptNow(state, state.dask, nowMs);
    watchCapacity(state, nowMs);
    watchCost(state, nowMs);
    watchIdle(state, nowMs);
    const plan = planCluster(state, nowMs);
    for (const decision of isLeaving ? plan.decisions.filter(isEnding) : plan.decisions) {
      intend(state, decision, nowMs);
      begin(decision);
    }
    if (!isLeaving) for (const decision of decisionsToResume(state, inFlight)) begin(decision);
    recordChanges(state, nowMs);
    setCurrentDetails(describeCluster(state));
    tagStatus(state);
    if (plan.done && !writer.isBusy() && [...inFlight].every(isQuestion)) break;
    if (isLeaving && canContinue(nowMs)) {
      inspectAgain(state);
      await continueAsNew<typeof cluster>({ ...input, carry: state });
    }
    if (!isLeaving) writer.beginIfDue(nowMs);
    const planned = plan.wakeAtMs === null ? null : { atMs: plan.wakeAtMs, what: plan.wakeFor };
    const leave =
      waitsUntilMs !== null && waitsUntilMs > nowMs ? { atMs: waitsUntilMs, what: 'continue as new at' } : null;
    const wake = earliest([planned, isLeaving ? leave : writer.nextWrite()]);
    const changed = (): boolean => changes.any() || ((isQuiet() || waitsUntilMs === null) && shouldContinueAsNew());
    if (wake === null) await condition(changed);
    else await condition(changed, Math.max(wake.atMs - nowMs, 1), { summary: describeWake(wake, nowMs) });
  }
  await finish(state, input);
  return viewCluster(state, input);
}
