// The deployment's workspaces, for its operators. A new workspace gets its first admin, whose token is shown only once.
import type { CreatedWorkspace, CreateWorkspace, WorkspaceList } from '../../schema/people.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { time } from '../to-wire.ts';
import { newTokenSecret } from '../../platform/token-secret.ts';
import { orRefused } from './rules.ts';
import { toCreated } from './tokens.ts';

export async function createWorkspace({ deps, actor }: Context, body: CreateWorkspace): Promise<CreatedWorkspace> {
  requireScope(actor, 'operator');
  const made = newTokenSecret(deps.keys);
  const { slug, admin: name } = body;
  const admin = { name, token: { id: made.id, secretHash: made.secretHash, expiresAtMs: null } };
  const issued = orRefused(await deps.store.workspaces.create({ slug, admin, nowMs: deps.now() }));
  return { slug, admin: toCreated(slug, made, issued) };
}

export async function listWorkspaces({ deps, actor }: Context): Promise<WorkspaceList> {
  requireScope(actor, 'operator');
  const workspaces = await deps.store.workspaces.list();
  return { items: workspaces.map(({ slug, createdAtMs }) => ({ slug, createdAt: time(createdAtMs) })) };
}
