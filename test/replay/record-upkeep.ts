// Records the histories of maintenance: a sweep that sees orphans for the first time and one that terminates them, a check for
// stuck workflows, and a reconciliation that finalizes a job whose workflows were terminated.
import { join } from 'node:path';

import type { Client as TemporalClient } from '@temporalio/client';
import { z } from 'zod';

import { buildAgent } from '../../agent/build.ts';
import { createLocalProvider } from '../../providers/local/provider.ts';
import { createClient } from '../../sdk/client.ts';
import { clusterWorkflowId } from '../../contracts/cluster.ts';
import { jobWorkflowId } from '../../contracts/job.ts';
import { controlQueue } from '../../contracts/flush.ts';
import { type ReconcileInput, type ReconcileReport, reconcileType } from '../../contracts/reconcile.ts';
import { type SweepInput, type SweepReport, sweepType } from '../../contracts/sweep.ts';
import {
  type StuckWorkflowsInput,
  type StuckWorkflowsReport,
  stuckWorkflowsType,
} from '../../contracts/stuck-workflows.ts';
import { startAgentApi } from '../support/agent-api.ts';
import { eventually } from '../support/eventually.ts';
import { read } from '../support/kills.ts';
import { startStack, type TestStack } from '../support/stack.ts';
import { connectTemporal, saveHistory } from './history-files.ts';

export async function recordUpkeep(): Promise<void> {
  const stack = await startStack();
  try {
    const { server, close } = await connectTemporal(stack);
    const host = z.object({ hostId: z.string(), deploymentId: z.string() }).parse(read(join(stack.home, 'host.json')));
    await sweepOrphans(server, stack, host);
    const { deploymentId } = host;
    const check = { deploymentId, autoReset: true };
    await server.workflow.execute<(input: StuckWorkflowsInput) => Promise<StuckWorkflowsReport>>(stuckWorkflowsType, {
      ...{ workflowId: 'record-stuck-workflows', taskQueue: controlQueue, args: [check] },
    });
    await saveHistory(server, 'record-stuck-workflows', 'stuck-workflows');
    await finalizeAJob(server, stack, deploymentId);
    await close();
  } finally {
    await stack.stop();
  }
}

/** Instances of clusters that have no record: seen by the first sweep, ended by the second. */
async function sweepOrphans(
  server: TemporalClient,
  { home }: TestStack,
  { hostId, deploymentId }: { hostId: string; deploymentId: string },
): Promise<void> {
  const agentBundle = join(home, 'planted-agent.mjs');
  await buildAgent(agentBundle);
  const provider = createLocalProvider({ home, agentBundle, nodePath: process.execPath, maxInstances: 9, cores: 2 });
  const api = await startAgentApi();
  try {
    for (const cluster of [987_654, 987_655]) {
      await provider.launch({
        owner: { deploymentId, workspace: 'default', cluster },
        ...{ clusterName: 'planted', token: `planted ${cluster}`, apiUrl: api.url, launchToken: api.launchToken },
        slots: [{ slot: 0, generation: 1, role: 'worker' }],
      });
    }
    const target = { deploymentId, provider: 'local', providerQueue: `local/${hostId}` };
    for (const name of ['sweep-sees-orphans', 'sweep-ends-orphans']) {
      await server.workflow.execute<(input: SweepInput) => Promise<SweepReport>>(sweepType, {
        ...{ workflowId: name, taskQueue: controlQueue },
        args: [{ ...target, graceMs: 1, dryRun: false }],
      });
      await saveHistory(server, name, name);
    }
  } finally {
    await api.close();
  }
}

/** Its workflow and that of its cluster are terminated; the second reconciliation finalizes the row. */
async function finalizeAJob(server: TemporalClient, stack: TestStack, deploymentId: string): Promise<void> {
  const { jobs } = createClient({ apiUrl: stack.apiUrl, token: stack.token });
  const { number } = await jobs.create({ command: ['sleep', '600'] });
  await eventually(async () => (await jobs.get(number)).tasks.running === 1);
  for (const id of [jobWorkflowId(number), clusterWorkflowId(number)]) {
    await server.workflow.getHandle(id).terminate('recorded');
  }
  const input: ReconcileInput = { deploymentId, graceMs: 1, dryRun: false };
  for (const name of ['reconcile-sees-a-job', 'reconcile-finalizes-a-job']) {
    await server.workflow.execute<(input: ReconcileInput) => Promise<ReconcileReport>>(reconcileType, {
      ...{ workflowId: name, taskQueue: controlQueue, args: [input] },
    });
    await saveHistory(server, name, name);
  }
}
