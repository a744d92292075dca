// The caller's workspace: its limits, and their usage by user.
import { RopewalkError } from '../../domain/errors.ts';
import { includes } from '../../domain/people/authority.ts';
import type { PutLimits, WorkspaceInfo } from '../../schema/people.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { time } from '../to-wire.ts';
import { byOf, orRefused } from './rules.ts';
import { readUsage } from './usage.ts';
import { definedLimits } from './users.ts';

export async function getWorkspace(context: Context): Promise<WorkspaceInfo> {
  const { deps, actor } = context;
  requireScope(actor, 'read');
  const { workspaces, people } = deps.store;
  const isAdmin = includes(actor.scopes, 'admin');
  const [workspace, users, usage, events] = await Promise.all([
    workspaces.find(actor.workspace),
    people.listUsers(actor.workspace),
    readUsage(context),
    isAdmin ? workspaces.events(actor.workspace, shownEvents) : [],
  ]);
  if (workspace === null) throw new RopewalkError({ code: 'NOT_FOUND', message: 'There is no such workspace.' });
  // A removed user may still have running jobs or clusters.
  const names = new Set([...users.map(({ name }) => name), ...usage.users]);
  return {
    slug: workspace.slug,
    limits: workspace.limits,
    perUser: workspace.perUser,
    defaults: workspace.defaults,
    use: usage.total,
    users: [...names].map((name) => ({ name, use: usage.of(name) })),
    events: events.toReversed().map(({ atMs, ...event }) => ({ at: time(atMs), ...event })),
  };
}

export async function putLimits(context: Context, { perUser, ...limits }: PutLimits): Promise<WorkspaceInfo> {
  const { deps, actor } = context;
  requireScope(actor, 'admin');
  const change = {
    limits: definedLimits(limits),
    by: byOf(actor),
    ...(perUser === undefined ? {} : { perUser: perUser === null ? null : definedLimits(perUser) }),
  };
  orRefused(await deps.store.workspaces.configure(actor.workspace, change, deps.now()));
  return getWorkspace(context);
}

const shownEvents = 100;
