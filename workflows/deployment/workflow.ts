// The deployment: the root from which every number comes. It lives for ever, continuing as new when its history grows.
import {
  condition,
  continueAsNew,
  defineQuery,
  defineUpdate,
  log,
  setCurrentDetails,
  setHandler,
} from '@temporalio/workflow';

import { createDeploymentState, createWorkspace, leaseNumbers } from '../../domain/deployment/rules.ts';
import type { DeploymentState } from '../../domain/deployment/state.ts';
import { startAbandoned } from '../children.ts';
import { onCancelRequest } from '../cancellation.ts';
import { answerEach } from '../flush.ts';
import type { Flush, FlushAnswer } from '../../contracts/flush.ts';
import { shouldRoll } from '../rolling.ts';
import { workspaceType, workspaceWorkflowId } from '../workspace/messages.ts';
import type { WorkspaceInput } from '../workspace/messages.ts';
import { deploymentMessages } from './messages.ts';
import type {
  CreateWorkspaceAnswer,
  CreateWorkspaceItem,
  DeploymentInput,
  DeploymentView,
  LeaseNumbersAnswer,
  LeaseNumbersItem,
} from './messages.ts';

const createUpdate = defineUpdate<FlushAnswer<CreateWorkspaceAnswer>, [Flush<CreateWorkspaceItem>]>(
  deploymentMessages.createWorkspace,
);
const leaseUpdate = defineUpdate<FlushAnswer<LeaseNumbersAnswer>, [Flush<LeaseNumbersItem>]>(
  deploymentMessages.leaseNumbers,
);
const viewQuery = defineQuery<DeploymentView>(deploymentMessages.view);

export async function deployment(input: DeploymentInput): Promise<void> {
  const state = input.carry ?? createDeploymentState(input.deploymentId, input.createdAtMs);
  setHandler(createUpdate, (flush) => answerEach(flush, ({ slug }) => createWorkspace(state, slug, Date.now())));
  setHandler(leaseUpdate, (flush) => answerEach(flush, ({ slug, opId }) => leaseNumbers(state, slug, opId)));
  setHandler(viewQuery, () => ({
    deploymentId: state.deploymentId,
    workspaces: Object.keys(state.workspaces),
    createdAtMs: Object.fromEntries(
      Object.entries(state.workspaces).map(([slug, { createdAtMs }]) => [slug, createdAtMs]),
    ),
    nextNumber: state.nextNumber,
  }));

  // It holds what everything else hangs from: cancelling it is not something an operator can mean.
  await onCancelRequest(
    () => log.warn('a cancel request was ignored: terminate this workflow if you really mean it'),
    () => run(state, input),
  );
}

async function run(state: DeploymentState, input: DeploymentInput): Promise<void> {
  for (;;) {
    setCurrentDetails(
      `Workspaces: ${Object.keys(state.workspaces).length}. Next number block from ${state.nextNumber}.`,
    );
    await condition(() => unstarted(state).length > 0 || shouldRoll());
    for (const slug of unstarted(state)) await startWorkspace(state, slug);
    if (shouldRoll()) break;
  }
  await continueAsNew<typeof deployment>({ ...input, carry: state });
}

function unstarted(state: DeploymentState): string[] {
  return Object.entries(state.workspaces).flatMap(([slug, workspace]) => (workspace.started ? [] : [slug]));
}

async function startWorkspace(state: DeploymentState, slug: string): Promise<void> {
  const workspace = state.workspaces[slug];
  if (workspace === undefined) return;
  const { from, to } = workspace.firstBlock;
  const input: WorkspaceInput = {
    slug,
    deploymentId: state.deploymentId,
    createdAtMs: workspace.createdAtMs,
    block: { next: from, end: to },
  };
  await startAbandoned({
    type: workspaceType,
    workflowId: workspaceWorkflowId(slug),
    input,
    workspace: slug,
    user: 'deployment',
    admissionId: state.deploymentId,
    summary: `Workspace ${slug}`,
    details: `Admits jobs and clusters of **${slug}** and hands out their numbers.`,
  });
  workspace.started = true;
}
