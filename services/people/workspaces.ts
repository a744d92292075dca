// The deployment's workspaces, for its operators. A new one gets its first admin, whose token is shown this once.
import { setTimeout as sleep } from 'node:timers/promises';

import { RopewalkError } from '../../domain/errors.ts';
import type { IssuedToken } from '../../domain/workspace/tokens.ts';
import type { CreatedWorkspace, CreateWorkspace, WorkspaceList } from '../../schema/people.ts';
import { deploymentId, deploymentMessages, type DeploymentView } from '../../workflows/deployment/messages.ts';
import type { IssueTokenItem } from '../../workflows/workspace/messages.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context, Deps } from '../context.ts';
import { time } from '../to-wire.ts';
import { newTokenSecret } from '../../platform/token-secret.ts';
import { toCreated } from './tokens.ts';

/** Asked again after a crash in between, it goes on where it was: a workspace without people still gets its admin. */
export async function createWorkspace({ deps, actor }: Context, body: CreateWorkspace): Promise<CreatedWorkspace> {
  requireScope(actor, 'operator', { honourStale: false });
  const { slug } = await deps.people.createWorkspace({ slug: body.slug });
  const made = newTokenSecret();
  const { id, sha256 } = made;
  const item: IssueTokenItem = { id, sha256, user: body.admin, scopes: null, expiresAtMs: null, first: true };
  const issued = await issueWhenThere(deps, slug, item);
  deps.views.expireWorkspace(slug);
  return { slug, admin: toCreated(slug, made, issued) };
}

export async function listWorkspaces({ deps, actor }: Context): Promise<WorkspaceList> {
  requireScope(actor, 'operator', { honourStale: false });
  const read = await deps.workflows.query<DeploymentView>(deploymentId, deploymentMessages.view);
  if (read.kind !== 'value')
    throw new RopewalkError({ code: 'UNAVAILABLE', message: 'The deployment does not answer.' });
  const { workspaces, createdAtMs } = read.value;
  return { items: workspaces.map((slug) => ({ slug, createdAt: time(createdAtMs[slug] ?? 0) })) };
}

/** Its workflow is started by the deployment's loop, moments after the deployment has answered. */
async function issueWhenThere(deps: Deps, slug: string, item: IssueTokenItem): Promise<IssuedToken> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await deps.people.issueToken(slug, item);
    } catch (error) {
      const isYoung = error instanceof RopewalkError && error.problem.code === 'UNAVAILABLE';
      if (!isYoung || attempt === maxAttempts) throw error;
    }
    await sleep(pauseMs);
  }
}

const maxAttempts = 20;
const pauseMs = 250;
