// The deployment workflow: one per Temporal namespace, for ever.
import type { DeploymentState } from '../../domain/deployment/state.ts';

export const deploymentType = 'deployment';
export const deploymentId = 'deployment';

export const deploymentMessages = {
  createWorkspace: 'deployment.createWorkspace',
  leaseNumbers: 'deployment.leaseNumbers',
  view: 'deployment.view',
} as const;

export interface CreateWorkspaceItem {
  slug: string;
}
export interface CreateWorkspaceAnswer {
  slug: string;
  existing: boolean;
}
export interface LeaseNumbersItem {
  slug: string;
  /** `{slug}/{leaseSeq}`: the same operation gets the same block, also after continue-as-new. */
  opId: string;
}
export interface LeaseNumbersAnswer {
  from: number;
  to: number;
}
export interface DeploymentView {
  deploymentId: string;
  workspaces: string[];
  /** When each was made. */
  createdAtMs: Record<string, number>;
  nextNumber: number;
}
export interface DeploymentInput {
  deploymentId: string;
  createdAtMs: number;
  carry?: DeploymentState;
}
