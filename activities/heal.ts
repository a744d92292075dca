// The healing's look at all open workflows of a deployment, and the reset of those that domain/heal says so of. Which
// workflows there are says visibility, at once and without a Temporal worker; what it lacks, since it lags behind, say the
// deployment and its workspaces.
import { createHash } from 'node:crypto';

import { log } from '@temporalio/activity';
import type { Client } from '@temporalio/client';

import { decideHeal, rememberReset } from '../domain/heal/decide.ts';
import type { Healed, Reset } from '../domain/heal/state.ts';
import { healDescribeAtOnce, standstillAttempts } from '../domain/limits.ts';
import type { Objects } from '../platform/objects/objects.ts';
import { clusterWorkflowId } from '../contracts/cluster.ts';
import { deploymentId as deploymentWorkflowId, deploymentMessages } from '../workflows/deployment/messages.ts';
import type { DeploymentView } from '../workflows/deployment/messages.ts';
import type { HealInput, HealReport } from '../contracts/heal.ts';
import { jobWorkflowId } from '../contracts/job.ts';
import type { HealActivities } from '../contracts/activities.ts';
import { workspaceMessages, workspaceWorkflowId } from '../workflows/workspace/messages.ts';
import type { WorkspaceView } from '../workflows/workspace/messages.ts';
import { heartbeating } from './heartbeating.ts';
import { deploymentOf, describeWorkflow, queryOrNull } from './presence.ts';
import { readStandstill, type Replayer } from './standstill.ts';

export interface HealDeps {
  client: Client;
  objects: Objects;
  replayer: Replayer;
  /** For the metrics. */
  onStandstill: (workflowId: string, outcome: Healed['outcome']) => void;
}

export function createHealActivities(deps: HealDeps): HealActivities {
  return { healStandstills: (input) => heartbeating(() => healAll(deps, input)) };
}

async function healAll(deps: HealDeps, { deploymentId, dryRun }: HealInput): Promise<HealReport> {
  const { client } = deps;
  const report: HealReport = { refusal: null, looked: 0, unknown: [], healed: [] };
  const found = await deploymentOf(client);
  if (found !== deploymentId) {
    return { ...report, refusal: `this Temporal namespace is ${found ?? 'nobody'}'s, not ${deploymentId}'s` };
  }
  const seen = new Set<string>();
  const well = new Set<string>();
  const look = async (ids: string[]): Promise<string[]> => {
    const fresh = ids.filter((id) => !seen.has(id));
    for (const id of fresh) seen.add(id);
    for (const id of await lookAt(deps, fresh, dryRun, report)) well.add(id);
    return ids.filter((id) => well.has(id));
  };
  const ask = async <V>(workflowId: string, query: string): Promise<V | null> => {
    const answer = await queryOrNull<V>(client, workflowId, query);
    if (answer === null) report.unknown.push(`what ${workflowId} has open`);
    return answer;
  };
  await look(await openIds(client));
  // From the root to the leaves: what stands still cannot be asked what it has, but can the next time.
  const slugs: string[] = [];
  for (const id of await look([deploymentWorkflowId])) {
    slugs.push(...((await ask<DeploymentView>(id, deploymentMessages.view))?.workspaces ?? []));
  }
  for (const id of await look(slugs.map(workspaceWorkflowId))) {
    const holders = (await ask<WorkspaceView>(id, workspaceMessages.view))?.holders ?? [];
    await look(
      holders.flatMap(({ number, kind }) =>
        kind === 'job' ? [jobWorkflowId(number), clusterWorkflowId(number)] : [clusterWorkflowId(number)],
      ),
    );
  }
  return report;
}

/** As far as visibility knows; none when it does not answer. */
async function openIds(client: Client): Promise<string[]> {
  const ids: string[] = [];
  try {
    for await (const { workflowId } of client.workflow.list({ query: "ExecutionStatus = 'Running'" })) {
      if (isOurs(workflowId)) ids.push(workflowId);
    }
  } catch (error) {
    log.warn('visibility does not say which workflows are open', { error });
  }
  return ids;
}

const isOurs = (workflowId: string): boolean => /^(?:deployment|workspace\/.+|(?:job|cluster)\/\d+)$/.test(workflowId);

/** Those that are well, and can be asked. */
async function lookAt(deps: HealDeps, ids: string[], dryRun: boolean, report: HealReport): Promise<string[]> {
  const well: string[] = [];
  for (let from = 0; from < ids.length; from += healDescribeAtOnce) {
    await Promise.all(
      ids.slice(from, from + healDescribeAtOnce).map(async (workflowId) => {
        try {
          const { raw, runId, status } = await describeWorkflow(deps.client, workflowId);
          if (status.name !== 'RUNNING') return;
          report.looked += 1;
          const attempt = raw.pendingWorkflowTask?.attempt ?? 0;
          if (attempt < standstillAttempts) well.push(workflowId);
          else report.healed.push(...(await healOne(deps, { workflowId, runId, attempt }, dryRun)));
        } catch (error) {
          if (isNotFound(error)) return;
          report.unknown.push(workflowId);
        }
      }),
    );
  }
  return well;
}

async function healOne(
  { client, objects, replayer, onStandstill }: HealDeps,
  pending: { workflowId: string; runId: string; attempt: number },
  dryRun: boolean,
): Promise<Healed[]> {
  const { workflowId, runId } = pending;
  const history = await client.workflow.getHandle(workflowId, runId).fetchHistory();
  const standstill = await readStandstill(history, replayer, pending);
  const resets = await readResets(objects, workflowId);
  const nowMs = Date.now();
  const decision = decideHeal(standstill, resets, nowMs);
  if (decision.do === 'nothing') return [];
  const { text } = decision;
  const task = decision.do === 'reset' ? eventOf(history.events, decision.toEventId) : null;
  if (decision.do === 'reset' && !dryRun) {
    // Before the reset: one that nobody remembers could be repeated without end.
    await writeResets(objects, workflowId, rememberReset(resets, workflowId, nowMs));
    await client.workflowService.resetWorkflowExecution({
      namespace: client.options.namespace,
      workflowExecution: { workflowId, runId },
      reason: `ropewalk heals a workflow that stands still: ${text}`.slice(0, 900),
      // An attempt that is repeated after its answer was lost is the same reset.
      requestId: createHash('sha256').update(`${workflowId} ${runId} ${decision.toEventId}`).digest('hex').slice(0, 36),
      workflowTaskFinishEventId: task?.eventId ?? null,
      resetReapplyType: allEligible,
    });
  }
  const outcome = decision.do === 'tell' ? 'told' : dryRun ? 'would be reset' : 'reset';
  if (!dryRun) {
    onStandstill(workflowId, outcome);
    log.warn(outcome === 'reset' ? 'a workflow that stood still was reset' : 'a workflow stands still', {
      ...{ stands: workflowId, runId, attempt: pending.attempt, why: text },
      ...(decision.do === 'reset' ? { toEventId: decision.toEventId } : {}),
    });
  }
  return [{ workflowId, outcome, text }];
}

const eventOf = <E extends { eventId?: unknown }>(events: E[] | null | undefined, id: number): E | undefined =>
  events?.find(({ eventId }) => Number(eventId) === id);

/** Of the protocol's enumeration: signals and updates since then are applied again. */
const allEligible = 3;

const isNotFound = (error: unknown): boolean => error instanceof Error && error.name === 'WorkflowNotFoundError';

const memoryOf = (workflowId: string): string => `heal/${workflowId.replaceAll('/', '.')}.json`;

/** A memory that cannot be read counts as full of resets: rather none than without end. */
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
