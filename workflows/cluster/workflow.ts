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
  workflowInfo,
} from '@temporalio/workflow';

import { applyReport, suspectInstances } from '../../domain/cluster/apply.ts';
import { createClusterState } from '../../domain/cluster/create.ts';
import { intend, planCluster } from '../../domain/cluster/plan.ts';
import { scaleCluster, stopCluster } from '../../domain/cluster/requests.ts';
import type { ClusterState } from '../../domain/cluster/state.ts';
import { headAddress } from '../../domain/cluster/view.ts';
import { onCancelRequest } from '../cancellation.ts';
import { answerEach } from '../flush.ts';
import type { Flush, FlushAnswer, ItemAnswer } from '../messages.ts';
import { carryOut, finish, tagStatus } from './execute.ts';
import { clusterMessages } from './messages.ts';
import type {
  ClusterInput,
  ClusterView,
  ReportAnswer,
  ReportItem,
  ScaleSignal,
  StopSignal,
  SuspectSignal,
} from './messages.ts';
import { describeCluster, viewCluster } from './view.ts';

const reportUpdate = defineUpdate<FlushAnswer<ReportAnswer>, [Flush<ReportItem>]>(clusterMessages.report);
const scaleSignal = defineSignal<[ScaleSignal]>(clusterMessages.scale);
const suspectSignal = defineSignal<[SuspectSignal]>(clusterMessages.suspect);
const stopSignal = defineSignal<[StopSignal]>(clusterMessages.stop);
const viewQuery = defineQuery<ClusterView>(clusterMessages.view);

export async function cluster(input: ClusterInput): Promise<ClusterView> {
  const created = { number: input.number, workspace: input.workspace, createdAtMs: Date.now() };
  const state = input.carry ?? createClusterState(created, input.settings);
  let news = true;
  const noted = <T>(value: T): T => {
    news = true;
    return value;
  };
  setHandler(reportUpdate, (flush) => noted(answerEach(flush, (item) => report(state, item))));
  setHandler(scaleSignal, ({ instances }) => noted(scaleCluster(state, instances, Date.now())));
  setHandler(suspectSignal, ({ instances }) => noted(suspectInstances(state, instances, Date.now())));
  setHandler(stopSignal, ({ code, text }) => noted(stopCluster(state, { code, text, atMs: Date.now() })));
  setHandler(viewQuery, () => viewCluster(state, input));

  const told = (): void =>
    noted(stopCluster(state, { code: 'CANCELLED', text: 'its workflow was cancelled in Temporal', atMs: Date.now() }));
  return onCancelRequest(told, () =>
    run(state, input, { clear: () => (news = false), note: () => (news = true), any: () => news }),
  );
}

interface News {
  clear: () => void;
  note: () => void;
  any: () => boolean;
}

/** Plans and acts until everything is gone after a stop. */
async function run(state: ClusterState, input: ClusterInput, news: News): Promise<ClusterView> {
  const shouldRoll = (): boolean => workflowInfo().continueAsNewSuggested;
  let inFlight = 0;
  for (;;) {
    news.clear();
    const nowMs = Date.now();
    const rolling = shouldRoll();
    const plan = planCluster(state, nowMs);
    for (const decision of rolling ? [] : plan.decisions) {
      intend(state, decision, nowMs);
      inFlight += 1;
      void carryOut(state, input, decision).then(() => {
        inFlight -= 1;
        news.note();
      });
    }
    setCurrentDetails(describeCluster(state));
    tagStatus(state);
    if (plan.done && inFlight === 0) break;
    if (rolling && inFlight === 0) await continueAsNew<typeof cluster>({ ...input, carry: state });
    const changed = (): boolean => news.any() || (inFlight === 0 && shouldRoll());
    if (plan.wakeAtMs === null) await condition(changed);
    else
      await condition(changed, Math.max(plan.wakeAtMs - nowMs, 1), { summary: 'register timeout or launch back-off' });
  }
  await finish(state, input);
  return viewCluster(state, input);
}

function report(state: ClusterState, item: ReportItem): ItemAnswer<ReportAnswer> {
  const verdict = applyReport(state, item, Date.now());
  if (verdict === 'not yet known') {
    return { error: { code: 'NOT_YET', message: 'The launch of this instance has not been noted yet.' } };
  }
  if (verdict === 'refused') {
    return { error: { code: 'FORBIDDEN', message: 'This instance is not, or no longer, part of the cluster.' } };
  }
  const role = state.instances.find((instance) => instance.id === item.instance)?.role ?? 'worker';
  const stop = state.stopRequested;
  return {
    ok: {
      role,
      clusterName: state.settings.name,
      job: state.settings.job,
      headAddress: headAddress(state),
      stop: stop === null ? null : { code: stop.code, text: stop.text },
    },
  };
}
