// Users, tokens and scopes of a workspace.
import type { LimitsChange } from '../quota/limits.ts';
import type { WorkspaceLimits } from '../quota/state.ts';

export type Scope = 'read' | 'write' | 'admin' | 'operator';
export type Role = 'admin' | 'member' | 'read-only';

/** The caller and their token; null for the operator, on the control plane's host. */
export type By = { user: string; tokenId: string } | null;

export interface User {
  /** Never reused: a user who is removed and added again under the same name has a new id. */
  id: string;
  name: string;
  role: Role;
  /** The user's own limits, which override the workspace's `perUser`. */
  limits: Partial<WorkspaceLimits>;
  createdAtMs: number;
}

export interface Token {
  id: string;
  /** Keyed hash of the secret part. The secret itself is shown once and never stored. */
  secretHash: string;
  /** Name and id of its user. */
  user: string;
  userId: string;
  scopes: Scope[];
  /** Its purpose. */
  name: string;
  createdAtMs: number;
  /** Name of the user who created it, or who created for another user the token that created it; null for the operator. */
  createdBy: string | null;
  expiresAtMs: number | null;
  revokedAtMs: number | null;
}

export interface IssueToken {
  id: string;
  secretHash: string;
  user: string;
  expiresAtMs: number | null;
  /** Null for all scopes of its creator that its user's role allows; without `operator` if it is for another user. */
  scopes: Scope[] | null;
  name?: string;
  /** Null for the operator, who also adds the user, as an admin. */
  by: By;
}

export interface IssuedToken {
  id: string;
  user: string;
  scopes: Scope[];
  expiresAtMs: number | null;
}

export interface PutUser {
  name: string;
  role?: Role;
  /** Null removes the user's own limits, null for one of them that one. */
  limits?: LimitsChange | null;
  by: By;
}

/** A change of people or limits. */
export interface PeopleEvent {
  atMs: number;
  by: string | null;
  code: string;
  text: string;
}
