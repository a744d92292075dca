// The workspace workflow: one per workspace, for ever; it admits, and knows what is open.
import type { ReserveShare, ShareKind } from '../../domain/workspace/shares.ts';
import type {
  By,
  Holder,
  NumberBlock,
  WorkspaceEvent,
  WorkspaceLimits,
  WorkspaceState,
  WorkspaceToken,
  WorkspaceUser,
} from '../../domain/workspace/state.ts';
import type { IssueToken } from '../../domain/workspace/tokens.ts';
import type { PutUser } from '../../domain/workspace/users.ts';

export const workspaceType = 'workspace';
export const workspaceWorkflowId = (slug: string): string => `workspace/${slug}`;

export const workspaceMessages = {
  admit: 'workspace.admit',
  configure: 'workspace.configure',
  issueToken: 'workspace.issueToken',
  revokeToken: 'workspace.revokeToken',
  putUser: 'workspace.putUser',
  removeUser: 'workspace.removeUser',
  share: 'workspace.share',
  released: 'workspace.released',
  /** A cluster that was asked for another size says what it has. */
  footprint: 'workspace.footprint',
  /** Nothing to say: look now at whether what is open still runs. */
  look: 'workspace.look',
  view: 'workspace.view',
} as const;

/** The `ok` part of an admission's answer. */
export interface AdmitOk {
  number: number;
  name: string;
  admissionId: string;
  existing: boolean;
  named?: true;
}
export type IssueTokenItem = IssueToken;
export interface RevokeTokenItem {
  id: string;
  /** Absent: the operator, from beside the API. */
  by?: By;
}
export type PutUserItem = PutUser;
export interface RemoveUserItem {
  name: string;
  by: By;
}
export interface ConfigureItem {
  limits: Partial<WorkspaceLimits>;
  perUser?: Partial<WorkspaceLimits> | null;
  by?: By;
}
/** Before a cluster is told to grow or shrink, and after it was. */
export type ShareItem =
  | { do: 'reserve'; share: ReserveShare }
  | { do: 'settle'; share: { number: number; kind: ShareKind; seq: number } };
export interface ReleasedSignal {
  number: number;
}
export interface WorkspaceView {
  slug: string;
  deploymentId: string;
  tokens: WorkspaceToken[];
  users: WorkspaceUser[];
  limits: WorkspaceLimits;
  perUser: Partial<WorkspaceLimits>;
  events: WorkspaceEvent[];
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
