// What an agent tells its cluster now and then: that it lives, or that it leaves.
import type { ReportAnswerBody, ReportRequest } from '../../../schema/agent.ts';
import { clusterWorkflowId } from '../../../workflows/cluster/messages.ts';
import type { InstanceContext } from '../context.ts';
import { refusal } from './refusal.ts';
import { renewIfDue } from './renew.ts';

export async function reportAgent(context: InstanceContext, input: ReportRequest): Promise<ReportAnswerBody> {
  const { deps, actor } = context;
  const submitted = await deps.reports.submit(clusterWorkflowId(actor.cluster), {
    instance: actor.instance,
    bootId: input.bootId,
    kind: input.kind,
    address: input.address,
    text: input.text,
  });
  if (submitted.kind === 'refused') throw refusal(submitted.problem);
  if (submitted.kind === 'closed') {
    return { stop: { code: 'CLUSTER_OVER', text: `Cluster ${actor.cluster} is over.` }, token: null };
  }
  return { stop: submitted.value.stop, token: await renewIfDue(context) };
}
