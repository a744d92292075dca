// What is changed about people goes to the workspace's workflow, which decides: what an API replica has cached of a token
// may be seconds old. One call here is one item of a group commit.
import { setTimeout as sleep } from 'node:timers/promises';

import { RopewalkError } from '../../domain/errors.ts';
import { newTokenSettlesMs } from '../../domain/limits.ts';
import type { WorkspaceLimits, WorkspaceUser } from '../../domain/workspace/state.ts';
import type { IssuedToken } from '../../domain/workspace/tokens.ts';
import {
  deploymentId,
  deploymentMessages,
  type CreateWorkspaceAnswer,
  type CreateWorkspaceItem,
} from '../../workflows/deployment/messages.ts';
import {
  workspaceMessages,
  workspaceWorkflowId,
  type ConfigureItem,
  type IssueTokenItem,
  type PutUserItem,
  type RemoveUserItem,
  type RevokeTokenItem,
  type ShareItem,
} from '../../workflows/workspace/messages.ts';
import { createGroupCommits } from '../group-commit/registry.ts';
import { createTemporalFlush } from '../group-commit/temporal-flush.ts';
import type { WorkflowsPort } from '../workflows-port.ts';

/** Each rejects with the problem that the workflow has found. */
export interface PeopleUpdates {
  /** Once every replica of the API takes the token. */
  issueToken(slug: string, item: IssueTokenItem): Promise<IssuedToken>;
  revokeToken(slug: string, item: RevokeTokenItem): Promise<{ id: string }>;
  putUser(slug: string, item: PutUserItem): Promise<WorkspaceUser>;
  removeUser(slug: string, item: RemoveUserItem): Promise<WorkspaceUser>;
  configure(slug: string, item: ConfigureItem): Promise<WorkspaceLimits>;
  share(slug: string, item: ShareItem): Promise<{ seq: number }>;
  createWorkspace(item: CreateWorkspaceItem): Promise<CreateWorkspaceAnswer>;
}

export function createPeopleUpdates(workflows: Pick<WorkflowsPort, 'update'>): PeopleUpdates {
  const grouped = <I, O>(update: string): ((workflowId: string, item: I) => Promise<O>) => {
    const commits = createGroupCommits<I, O>({ flush: createTemporalFlush<I, O>(workflows, update) });
    return async (workflowId, item) => {
      const submitted = await commits.submit(workflowId, item);
      if (submitted.kind === 'answer') return submitted.value;
      throw submitted.kind === 'refused' ? new RopewalkError(submitted.problem) : notThere();
    };
  };
  const ofWorkspace = <I, O>(update: string): ((slug: string, item: I) => Promise<O>) => {
    const submit = grouped<I, O>(update);
    return (slug, item) => submit(workspaceWorkflowId(slug), item);
  };
  const issueToken = ofWorkspace<IssueTokenItem, IssuedToken>(workspaceMessages.issueToken);
  const createWorkspace = grouped<CreateWorkspaceItem, CreateWorkspaceAnswer>(deploymentMessages.createWorkspace);
  return {
    async issueToken(slug, item) {
      const issued = await issueToken(slug, item);
      await sleep(newTokenSettlesMs);
      return issued;
    },
    revokeToken: ofWorkspace(workspaceMessages.revokeToken),
    putUser: ofWorkspace(workspaceMessages.putUser),
    removeUser: ofWorkspace(workspaceMessages.removeUser),
    configure: ofWorkspace(workspaceMessages.configure),
    share: ofWorkspace(workspaceMessages.share),
    createWorkspace: (item) => createWorkspace(deploymentId, item),
  };
}

const notThere = () =>
  new RopewalkError(
    {
      code: 'UNAVAILABLE',
      message: 'The workspace does not take requests now.',
      hint: 'Try again; if it stays so, check its workflow in the Temporal UI.',
    },
    { retryAfterMs: 1_000 },
  );
