// A new workspace's state. The limits are those of one machine or a small team; `configure` raises them.
import type { NumberBlock, WorkspaceState } from './state.ts';

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
    limits: { running: 1_000, instances: 2_000, vcpus: 10_000 },
    block: workspace.block,
    spare: null,
    leaseSeq: 1,
    holders: [],
    keys: {},
    admitted: 0,
  };
}
