// The store's port for links in e-mails that sign in.
import type { IssuedToken } from '../domain/people/state.ts';
import type { Answer } from './answer.ts';

export interface NewMailLink {
  address: string;
  /** Keyed hashes of the link's secret and of the requesting browser's. */
  linkHash: string;
  browserHash: string;
  expiresAtMs: number;
  /** The hour of the clock. */
  hour: number;
  /** Maximum numbers of links in that hour, for the address and for all. */
  maxOfAddress: number;
  maxOfAll: number;
}

export interface UseMailLink {
  linkHash: string;
  browserHash: string;
  /** Null: the only possible workspace. */
  workspace: string | null;
  token: { id: string; secretHash: string; expiresAtMs: number };
}

export type UsedMailLink = { workspace: string; issued: IssuedToken } | { choose: string[] };

export interface MailLinkStore {
  /**
   * Replaces the link of the address. `no-user`: no user has this name, or an account of the identity provider is tied to each of them; nothing is
   * written. `too-many`: this hour has reached a maximum; the earlier link stays.
   */
  begin(item: NewMailLink, nowMs: number): Promise<'begun' | 'no-user' | 'too-many'>;
  /** Issues the session's token and ends the link. `choose`: several workspaces are possible, and none was named; nothing was written. */
  use(item: UseMailLink, nowMs: number): Promise<Answer<UsedMailLink>>;
}
