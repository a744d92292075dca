// The workspace workflow: one per workspace, for ever; it admits, and knows what is open.
import type {
  Holder,
  NumberBlock,
  WorkspaceLimits,
  WorkspaceState,
  WorkspaceToken,
} from '../../domain/workspace/state.ts';

export const workspaceType = 'workspace';
export const workspaceWorkflowId = (slug: string): string => `workspace/${slug}`;

export const workspaceMessages = {
  admit: 'workspace.admit',
  configure: 'workspace.configure',
  issueToken: 'workspace.issueToken',
  revokeToken: 'workspace.revokeToken',
  released: 'workspace.released',
  view: 'workspace.view',
} as const;

/** The `ok` part of an admission's answer. */
export interface AdmitOk {
  number: number;
  name: string;
  admissionId: string;
  existing: boolean;
}
export interface IssueTokenItem {
  id: string;
  sha256: string;
  user: string;
  scopes: WorkspaceToken['scopes'];
  expiresAtMs: number | null;
}
export interface RevokeTokenItem {
  id: string;
}
export interface ConfigureItem {
  limits: Partial<WorkspaceLimits>;
}
export interface ReleasedSignal {
  number: number;
}
export interface WorkspaceView {
  slug: string;
  deploymentId: string;
  tokens: WorkspaceToken[];
  limits: WorkspaceLimits;
  holders: Holder[];
  admitted: number;
}
export interface WorkspaceInput {
  slug: string;
  deploymentId: string;
  createdAtMs: number;
  block: NumberBlock;
  carry?: WorkspaceState;
}
