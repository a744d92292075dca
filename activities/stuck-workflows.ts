// Checks all open workflows of jobs and clusters, and resets those that domain/stuck selects.
import { createHash } from 'node:crypto';

import { log } from '@temporalio/activity';
import type { Client } from '@temporalio/client';
import { WorkflowNotFoundError } from '@temporalio/common';

import type { StuckWorkflowActivities } from '../contracts/activities.ts';
import type { StuckWorkflowsInput, StuckWorkflowsReport } from '../contracts/stuck-workflows.ts';
import { decideStuck, rememberReset } from '../domain/stuck/decide.ts';
import { stuckAttempts } from '../domain/stuck/limits.ts';
import type { Reset, StuckDecision, StuckWorkflow } from '../domain/stuck/state.ts';
import type { Objects } from '../platform/objects/objects.ts';
import { heartbeating } from './heartbeating.ts';
import { inParallel, listedWorkflows, openRecords, type RecordStores, workflowIdOf } from './open-workflows.ts';
import { describeWorkflow, refusalFor } from './presence.ts';
import { readStuckHistory, type Replayer } from './stuck-history.ts';

export interface StuckWorkflowDeps {
  client: Client;
  store: RecordStores;
  objects: Objects;
  replayer: Replayer;
  /** For metrics. */
  onStuck: (workflowId: string, outcome: StuckWorkflow['outcome']) => void;
}

export function createStuckWorkflowActivities(deps: StuckWorkflowDeps): StuckWorkflowActivities {
  return { resetStuckWorkflows: (input) => heartbeating(() => checkAll(deps, input)) };
}

async function checkAll(
  deps: StuckWorkflowDeps,
  { deploymentId, autoReset }: StuckWorkflowsInput,
): Promise<StuckWorkflowsReport> {
  const { client } = deps;
  const report: StuckWorkflowsReport = { refusal: null, checked: 0, unknown: [], stuck: [] };
  const refusal = await refusalFor(client, deploymentId);
  if (refusal !== null) return { ...report, refusal };
  await inParallel([...(await openIds(deps))], async (workflowId) => {
    try {
      const { raw, runId, status } = await describeWorkflow(client, workflowId);
      if (status.name !== 'RUNNING') return;
      report.checked += 1;
      const attempt = raw.pendingWorkflowTask?.attempt ?? 0;
      if (attempt < stuckAttempts) return;
      const stuck = await checkOne(deps, { workflowId, runId, attempt }, autoReset);
      if (stuck !== null) report.stuck.push(stuck);
    } catch (error) {
      if (!(error instanceof WorkflowNotFoundError)) report.unknown.push(workflowId);
    }
  });
  return report;
}

/** Merges both sources, because each lacks some workflows; a failure of one must not hide the other's. */
async function openIds({ client, store }: StuckWorkflowDeps): Promise<Set<string>> {
  const ids = new Set<string>();
  const unavailable = (source: string) => (error: unknown) =>
    log.warn(`${source} does not list open workflows`, { error });
  const fromVisibility = async (): Promise<void> => {
    for await (const { execution } of listedWorkflows(client)) ids.add(execution.workflowId);
  };
  const fromRows = async (): Promise<void> => {
    for await (const page of openRecords(store)) for (const record of page) ids.add(workflowIdOf(record));
  };
  await Promise.all([fromVisibility().catch(unavailable('visibility')), fromRows().catch(unavailable('the database'))]);
  return ids;
}

interface Pending {
  workflowId: string;
  runId: string;
  attempt: number;
}

async function checkOne(deps: StuckWorkflowDeps, pending: Pending, autoReset: boolean): Promise<StuckWorkflow | null> {
  const { client, objects, replayer, onStuck } = deps;
  const { workflowId, runId, attempt } = pending;
  const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const resets = await readResets(objects, workflowId);
  const nowMs = Date.now();
  const decision = decideStuck(await readStuckHistory(history, replayer, pending), resets, nowMs);
  if (decision.do === 'nothing') return null;
  if (decision.do === 'reset' && autoReset) {
    // Before the reset: a reset without a record could be repeated without end.
    await writeResets(objects, workflowId, rememberReset(resets, workflowId, nowMs));
    const finish = history.events?.find(({ eventId }) => Number(eventId) === decision.toEventId);
    await reset(client, pending, decision, finish?.eventId ?? null);
  }
  const outcome = decision.do === 'report' ? 'reported' : autoReset ? 'reset' : 'would be reset';
  const { text } = decision;
  onStuck(workflowId, outcome);
  log.warn('a workflow is stuck', { stuck: workflowId, runId, attempt, outcome, why: text });
  return { workflowId, outcome, text };
}

type EventId = Parameters<Client['workflowService']['resetWorkflowExecution']>[0]['workflowTaskFinishEventId'];

async function reset(
  client: Client,
  { workflowId, runId }: Pending,
  { toEventId, text }: Extract<StuckDecision, { do: 'reset' }>,
  workflowTaskFinishEventId: EventId,
): Promise<void> {
  await client.workflowService.resetWorkflowExecution({
    namespace: client.options.namespace,
    workflowExecution: { workflowId, runId },
    reason: `automatic reset of a stuck workflow: ${text}`.slice(0, 900),
    // A repeated attempt after a lost answer is the same reset.
    requestId: createHash('sha256').update(`${workflowId} ${runId} ${toEventId}`).digest('hex').slice(0, 36),
    workflowTaskFinishEventId: workflowTaskFinishEventId ?? null,
    resetReapplyType: allEligible,
  });
}

/** From the protocol's enumeration: later signals and updates are reapplied. */
const allEligible = 3;

const memoryOf = (workflowId: string): string => `stuck/${workflowId.replaceAll('/', '.')}.json`;

/** An unreadable record fails the check of this workflow, because no reset is better than endless resets. */
async function readResets(objects: Objects, workflowId: string): Promise<Reset[]> {
  const bytes = await objects.get(memoryOf(workflowId));
  if (bytes === null) return [];
  const stored: unknown = JSON.parse(new TextDecoder().decode(bytes));
  if (typeof stored !== 'object' || stored === null || !('resetsAtMs' in stored) || !Array.isArray(stored.resetsAtMs)) {
    throw new Error(`${memoryOf(workflowId)} is not a memory of resets: delete it`);
  }
  return stored.resetsAtMs.filter((atMs) => typeof atMs === 'number').map((atMs: number) => ({ workflowId, atMs }));
}

async function writeResets(objects: Objects, workflowId: string, resets: Reset[]): Promise<void> {
  const text = JSON.stringify({ v: 1, resetsAtMs: resets.map(({ atMs }) => atMs) });
  await objects.put(memoryOf(workflowId), new TextEncoder().encode(text));
}
