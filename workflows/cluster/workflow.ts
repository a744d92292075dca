// A cluster: plans from what it knows, writes each decision's intent into its state, and carries it out in the background
// while reports and signals go on arriving. `planCluster` decides; this loop only waits.
import {
  condition,
  continueAsNew,
  defineQuery,
  defineSignal,
  defineUpdate,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';

import { suspectInstances } from '../../domain/cluster/instance/inspect.ts';
import { watchCapacity } from '../../domain/cluster/capacity/wait.ts';
import { createClusterState } from '../../domain/cluster/create.ts';
import { adaptCluster, adaptNow, keepAlive } from '../../domain/cluster/dask/news.ts';
import { giveBack } from '../../domain/cluster/slot/give-back.ts';
import { type Decision, intend, isEnding, launchesToResume, planCluster } from '../../domain/cluster/plan.ts';
import { scaleCluster, stopCluster } from '../../domain/cluster/requests.ts';
import type { ClusterState } from '../../domain/cluster/state.ts';
import { usageToNote, usageWasNoted } from '../../domain/cluster/usage.ts';
import { shownCluster } from '../../domain/cluster/view.ts';
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
  GiveBackSignal,
  KeepaliveSignal,
  ReportAnswer,
  ReportItem,
  ScaleSignal,
  StopSignal,
  SuspectSignal,
} from '../../contracts/cluster.ts';
import { isNews, report } from './report.ts';
import { describeCluster, pendingCluster, viewCluster } from './view.ts';

const reportUpdate = defineUpdate<FlushAnswer<ReportAnswer>, [Flush<ReportItem>]>(clusterMessages.report);
const scaleSignal = defineSignal<[ScaleSignal]>(clusterMessages.scale);
const giveBackSignal = defineSignal<[GiveBackSignal]>(clusterMessages.giveBack);
const adaptSignal = defineSignal<[AdaptSignal]>(clusterMessages.adapt);
const keepaliveSignal = defineSignal<[KeepaliveSignal]>(clusterMessages.keepalive);
const suspectSignal = defineSignal<[SuspectSignal]>(clusterMessages.suspect);
const stopSignal = defineSignal<[StopSignal]>(clusterMessages.stop);
const viewQuery = defineQuery<ClusterView>(clusterMessages.view);
const versionQuery = defineQuery<number>(clusterMessages.version);

export async function cluster(input: ClusterInput): Promise<ClusterView> {
  const createdAtMs = Date.now();
  let state = input.carry ?? (input.settings === null ? null : createState(input, createdAtMs, input.settings));
  // What is asked before the specification has been read is done as soon as it has.
  const early: ((known: ClusterState) => void)[] = [];
  const news = createNews();
  const change = (how: (known: ClusterState) => void): void => {
    if (state === null) early.push(how);
    else how(state);
    news.note();
  };
  setHandler(reportUpdate, (flush) => {
    if (flush.items.some(isNews)) news.note();
    return answerEach(flush, (item) => report(state, item));
  });
  setHandler(scaleSignal, ({ instances, ...asked }) =>
    change((known) => scaleCluster(known, instances, Date.now(), asked)),
  );
  setHandler(adaptSignal, ({ adaptive, ...asked }) =>
    change((known) => adaptCluster(known, adaptive, Date.now(), asked)),
  );
  setHandler(giveBackSignal, ({ instances }) => change((known) => giveBack(known, instances, Date.now())));
  setHandler(keepaliveSignal, (signal) => change((known) => keepAlive(known, signal.noClientTimeoutMs, Date.now())));
  setHandler(suspectSignal, ({ instances }) => change((known) => suspectInstances(known, instances, Date.now())));
  const stop = (why: StopSignal): void => change((known) => stopCluster(known, { ...why, atMs: Date.now() }));
  setHandler(stopSignal, stop);
  setHandler(viewQuery, () => (state === null ? pendingCluster(input, createdAtMs) : viewCluster(state, input)));

  setHandler(versionQuery, () => state?.projection.version ?? 0);

  const told = (): void => stop({ code: 'CANCELLED', text: 'its workflow was cancelled in Temporal' });
  return onCancelRequest(told, async () => {
    state ??= createState(input, createdAtMs, await loadSettings(input));
    for (const how of early) how(state);
    return run(state, input, news);
  });
}

function createState(
  { number, workspace, user }: ClusterInput,
  createdAtMs: number,
  settings: ClusterState['settings'],
): ClusterState {
  return createClusterState({ number, workspace, user, createdAtMs }, settings);
}

interface News {
  clear: () => void;
  note: () => void;
  any: () => boolean;
}

function createNews(): News {
  let any = true;
  return { clear: () => void (any = false), note: () => void (any = true), any: () => any };
}

/** Plans and acts until everything is gone after a stop. */
async function run(state: ClusterState, input: ClusterInput, news: News): Promise<ClusterView> {
  let inFlight = 0;
  const writer = createRecordWriter({
    projection: state.projection,
    shown: () => shownCluster(state),
    writeView: (version) => writeView(state, version),
    usage: { next: () => usageToNote(state), wasNoted: (usage) => usageWasNoted(state, usage) },
    onEnd: () => news.note(),
  });
  const isQuiet = (): boolean => inFlight === 0 && !writer.isBusy();
  const launching = new Set<number>();
  const begin = (decision: Decision): void => {
    inFlight += 1;
    if (decision.kind === 'launch') launching.add(decision.seq);
    void carryOut(state, input, decision).then(() => {
      inFlight -= 1;
      if (decision.kind === 'launch') launching.delete(decision.seq);
      news.note();
    });
  };
  for (;;) {
    news.clear();
    const nowMs = Date.now();
    const isLeaving = shouldContinueAsNew();
    if (state.dask !== null) adaptNow(state, state.dask, nowMs);
    watchCapacity(state, nowMs);
    const plan = planCluster(state, nowMs);
    for (const decision of isLeaving ? plan.decisions.filter(isEnding) : plan.decisions) {
      intend(state, decision, nowMs);
      begin(decision);
    }
    if (!isLeaving) for (const decision of launchesToResume(state, launching)) begin(decision);
    setCurrentDetails(describeCluster(state));
    tagStatus(state);
    if (plan.done && isQuiet()) break;
    if (isLeaving && isQuiet()) await continueAsNew<typeof cluster>({ ...input, carry: state });
    if (!isLeaving) writer.beginIfDue(nowMs);
    const planned = plan.wakeAtMs === null ? null : { atMs: plan.wakeAtMs, what: plan.wakeFor };
    const wake = isLeaving ? planned : earliest([planned, writer.nextWrite()]);
    const changed = (): boolean => news.any() || (isQuiet() && shouldContinueAsNew());
    if (wake === null) await condition(changed);
    else await condition(changed, Math.max(wake.atMs - nowMs, 1), { summary: describeWake(wake, nowMs) });
  }
  await finish(state, input);
  return viewCluster(state, input);
}
