// A new workspace's state. The limits are those of one machine or a small team; `configure` raises them.
import type { NumberBlock, WorkspaceState, WorkspaceUser } from './state.ts';

export function createWorkspaceState(workspace: {
  slug: string;
  deploymentId: string;
  createdAtMs: number;
  block: NumberBlock;
}): WorkspaceState {
  return {
    v: 1,
    slug: workspace.slug,
    deploymentId: workspace.deploymentId,
    createdAtMs: workspace.createdAtMs,
    tokens: [],
    users: [],
    limits: { running: 1_000, instances: 2_000, vcpus: 10_000 },
    perUser: {},
    events: [],
    block: workspace.block,
    spare: null,
    leaseSeq: 1,
    holders: [],
    keys: {},
    admitted: 0,
  };
}

/** A state from before there were users: whoever had a token then was the operator of one machine. */
export function withPeople(
  carried: Omit<WorkspaceState, 'users' | 'perUser' | 'events'> & Partial<WorkspaceState>,
): WorkspaceState {
  const names = [...new Set(carried.tokens.map(({ user }) => user))];
  const users = names.map((name): WorkspaceUser => {
    return { name, role: 'admin', limits: {}, createdAtMs: carried.createdAtMs };
  });
  return { ...carried, users: carried.users ?? users, perUser: carried.perUser ?? {}, events: carried.events ?? [] };
}
