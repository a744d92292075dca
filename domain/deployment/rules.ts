// The deployment hands out workspaces and number blocks. Numbers only grow, and none is ever leased twice.
import type { Problem } from '../errors.ts';
import { numberBlockSize } from '../limits.ts';
import type { DeploymentState, DeploymentWorkspace } from './state.ts';

const slugPattern = /^[a-z0-9][a-z0-9-]{0,39}$/;

export function createDeploymentState(deploymentId: string, createdAtMs: number): DeploymentState {
  return { v: 1, deploymentId, createdAtMs, nextNumber: 1, workspaces: {} };
}

/** Makes a workspace, or finds the one that has the slug. Its workflow is started by the loop. */
export function createWorkspace(
  state: DeploymentState,
  slug: string,
  nowMs: number,
): { ok: { slug: string; existing: boolean } } | { error: Problem } {
  if (!slugPattern.test(slug)) {
    const message = 'A workspace slug has 1 to 40 characters of a-z, 0-9 and "-", and does not start with "-".';
    return { error: { code: 'VALIDATION', field: 'slug', message } };
  }
  if (workspaceOf(state, slug) !== undefined) return { ok: { slug, existing: true } };
  state.workspaces[slug] = { createdAtMs: nowMs, firstBlock: takeBlock(state), lastLease: null, started: false };
  return { ok: { slug, existing: false } };
}

/** Leases the next block; the same operation id gets the same block again. */
export function leaseNumbers(
  state: DeploymentState,
  slug: string,
  opId: string,
): { ok: { from: number; to: number } } | { error: Problem } {
  const workspace = workspaceOf(state, slug);
  if (workspace === undefined) return { error: { code: 'NOT_FOUND', message: `There is no workspace ${slug}.` } };
  if (workspace.lastLease?.opId === opId) return { ok: { from: workspace.lastLease.from, to: workspace.lastLease.to } };
  const block = takeBlock(state);
  workspace.lastLease = { opId, ...block };
  return { ok: block };
}

/** `constructor` is a slug like any other, and every object has something of that name. */
function workspaceOf(state: DeploymentState, slug: string): DeploymentWorkspace | undefined {
  return Object.hasOwn(state.workspaces, slug) ? state.workspaces[slug] : undefined;
}

function takeBlock(state: DeploymentState): { from: number; to: number } {
  const from = state.nextNumber;
  state.nextNumber += numberBlockSize;
  return { from, to: state.nextNumber - 1 };
}
