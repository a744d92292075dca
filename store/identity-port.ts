// The store's port for accounts of the identity provider.
import type { WorkspaceChoice } from '../domain/people/first-sign-in.ts';
import type { Account, NewPeople } from '../domain/people/sign-in.ts';
import type { IssuedToken } from '../domain/people/state.ts';
import type { Answer } from './answer.ts';

export interface SignIn {
  account: Account;
  /** Null: the only possible workspace. */
  workspace: string | null;
  newPeople: NewPeople | null;
  token: { id: string; secretHash: string; expiresAtMs: number };
}

export type SignedIn = { workspace: string; issued: IssuedToken } | { choose: WorkspaceChoice[] };

export interface IdentityStore {
  /**
   * Finds the user of an account, or ties the account to one, and issues the session's token. `choose`: several workspaces are
   * possible, and none was named; nothing was written.
   */
  signIn(item: SignIn, nowMs: number): Promise<Answer<SignedIn>>;
}
