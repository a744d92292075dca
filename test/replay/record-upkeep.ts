// Records the histories of what looks after everything else: a sweep that sees orphans for the first time and one that ends
// them, a healing, and a workspace that starts many at once and buries a job whose workflows were terminated.
import { join } from 'node:path';

import type { Client as TemporalClient } from '@temporalio/client';
import { z } from 'zod';

import { buildAgent } from '../../agent/build.ts';
import { youngHolderMs } from '../../domain/limits.ts';
import { createLocalProvider } from '../../providers/local/provider.ts';
import { createClient } from '../../sdk/client.ts';
import { clusterWorkflowId } from '../../contracts/cluster.ts';
import { type HealInput, type HealReport, healType } from '../../contracts/heal.ts';
import { jobWorkflowId } from '../../contracts/job.ts';
import { controlQueue } from '../../contracts/flush.ts';
import { type SweepInput, type SweepReport, sweepType } from '../../contracts/sweep.ts';
import { workspaceMessages, workspaceWorkflowId, type WorkspaceView } from '../../workflows/workspace/messages.ts';
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
    await server.workflow.execute<(input: HealInput) => Promise<HealReport>>(healType, {
      ...{ workflowId: 'record-heal', taskQueue: controlQueue },
      args: [{ deploymentId: host.deploymentId, dryRun: false }],
    });
    await saveHistory(server, 'record-heal', 'heal');
    await buryAJob(server, stack);
    await saveHistory(server, workspaceWorkflowId('default'), 'workspace-buries-a-job');
    await close();
  } finally {
    await stack.stop();
  }
}

/** Instances of clusters that nobody ever heard of: seen by the first sweep, ended by the second. */
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

/** After a dozen that were submitted at once. */
async function buryAJob(server: TemporalClient, stack: TestStack): Promise<void> {
  const { jobs } = createClient({ apiUrl: stack.apiUrl, token: stack.token });
  const submitted = await Promise.all(Array.from({ length: 12 }, () => jobs.create({ command: ['true'] })));
  for (const { number } of submitted) await jobs.wait(number);
  const { number } = await jobs.create({ command: ['sleep', '600'] });
  await eventually(async () => (await jobs.get(number)).tasks.running === 1);
  for (const id of [jobWorkflowId(number), clusterWorkflowId(number)]) {
    await server.workflow.getHandle(id).terminate('recorded');
  }
  const terminatedAtMs = Date.now();
  await eventually(() => Date.now() > terminatedAtMs + youngHolderMs);
  const workspace = server.workflow.getHandle(workspaceWorkflowId('default'));
  await workspace.signal(workspaceMessages.look);
  await eventually(async () => (await workspace.query<WorkspaceView>(workspaceMessages.view)).holders.length === 0, {
    timeoutMs: 120_000,
  });
}
