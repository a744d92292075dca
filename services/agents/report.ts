// An agent's report to its cluster: that it leaves, the state of its Dask process and, from the head instance, the scheduler's figures and drained
// workers. The answer's orders are passed to every agent that waits here for them.
import { hasChanges } from '../../domain/cluster/apply.ts';
import { maxInterruptionNoticeMs } from '../../domain/cluster/limits.ts';
import type { ReportAnswerBody, ReportRequest } from '../../schema/agent.ts';
import { clusterWorkflowId, type ReportItem } from '../../contracts/cluster.ts';
import type { InstanceContext } from '../context.ts';
import { time } from '../to-wire.ts';
import { ordersFor } from './orders.ts';
import { refusal } from './refusal.ts';
import { renewIfDue } from './renew.ts';

export async function reportAgent(context: InstanceContext, input: ReportRequest): Promise<ReportAnswerBody> {
  const { deps, actor } = context;
  const { workspace, cluster, instance } = actor;
  deps.heard.touch(cluster, instance);
  const item = itemOf(instance, input, deps.now());
  // The API records that the agent is alive; the workflow asks for it when necessary.
  if (!hasChanges(item)) return { stop: null, orders: null, token: await renewIfDue(context) };
  const submitted = await submit(context, item).catch((error: unknown) => {
    // The lost report may state that the cluster is busy again: no deadline must pass just because its agent was heard.
    deps.heard.interrupt(cluster, instance);
    throw error;
  });
  if (submitted.kind === 'closed') {
    deps.orders.wake({ workspace, cluster });
    return { stop: { code: 'CLUSTER_OVER', text: `Cluster ${cluster} has ended.` }, orders: null, token: null };
  }
  const { stop, orders, role } = submitted.value;
  if (orders !== null) deps.orders.heard({ workspace, cluster }, orders);
  if (input.process !== undefined || input.kind === 'leaving') deps.views.expire(cluster);
  const token = await renewIfDue(context).catch(() => null);
  return { stop, orders: orders === null ? null : ordersFor(role, orders), token };
}

async function submit({ deps, actor }: InstanceContext, item: ReportItem) {
  const submitted = await deps.reports.submit(clusterWorkflowId(actor.cluster), item);
  if (submitted.kind === 'refused') throw refusal(submitted.problem);
  return submitted;
}

function itemOf(
  instance: string,
  {
    bootId,
    kind,
    address,
    text,
    process,
    scheduler,
    drained,
    notes,
    interruption,
    unansweredForMs,
    gpus,
  }: ReportRequest,
  nowMs: number,
): ReportItem {
  return {
    instance,
    bootId,
    kind,
    address,
    text,
    ...(process === undefined ? {} : { process }),
    ...(scheduler === undefined ? {} : { scheduler }),
    ...(drained === undefined ? {} : { drained }),
    ...(notes === undefined ? {} : { notes }),
    ...(interruption === undefined ? {} : { interruption: soon(interruption, nowMs) }),
    ...(unansweredForMs === undefined ? {} : { unansweredForMs }),
    ...(gpus === undefined ? {} : { gpus }),
  };
}

/** A cloud announces an interruption minutes ahead. A distant time would replace the instance now and charge for it until then. */
function soon(
  { kind, at }: NonNullable<ReportRequest['interruption']>,
  nowMs: number,
): NonNullable<ReportItem['interruption']> {
  return { kind, at: time(Math.min(Date.parse(at), nowMs + maxInterruptionNoticeMs)) };
}
