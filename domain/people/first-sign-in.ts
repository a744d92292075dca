// The usable e-mail address of an account, and the workspaces in which the account may sign in.
import type { NewPeople } from './sign-in.ts';

/**
 * Lower case; null when it is unverified or not a plain address. Only ASCII: other characters may fold to the letters of another person's address
 * (U+212A, the Kelvin sign, has the lower case "k").
 */
export const usableAddress = (email: unknown, isVerified: unknown): string | null =>
  isVerified === true && typeof email === 'string' && plainAddress.test(email) ? email.toLowerCase() : null;

/** Printable ASCII with one "@". */
const plainAddress = /^[!-?A-~]+@[!-?A-~]+$/;

/** `tied`: the account has signed in there before. `added`: an admin added its address. `new`: by the operator's setting for new people. */
export interface WorkspaceChoice {
  workspace: string;
  how: 'tied' | 'added' | 'new';
}

export interface KnownPlaces {
  /** Workspaces where the account is tied to a user. */
  tied: readonly string[];
  /** Workspaces where the address is the name of a user. */
  named: readonly string[];
  /** Workspaces where the account's user, or the user of the address, was removed. */
  removed: readonly string[];
  newPeople: NewPeople | null;
  email: string | null;
}

/**
 * The person chooses among several workspaces: an admin who adds an address in another workspace must not divert that person from the operator's
 * workspace, or from any other.
 */
export function workspacesOf({ tied, named, removed, newPeople, email }: KnownPlaces): WorkspaceChoice[] {
  const opened = newPeople !== null && email !== null && !removed.includes(newPeople.workspace);
  const all: WorkspaceChoice[] = [
    ...tied.toSorted().map((workspace) => ({ workspace, how: 'tied' }) as const),
    ...named.toSorted().map((workspace) => ({ workspace, how: 'added' }) as const),
    ...(opened ? [{ workspace: newPeople.workspace, how: 'new' } as const] : []),
  ];
  const first = all.filter(({ workspace }, at) => all.findIndex((each) => each.workspace === workspace) === at);
  if (first.length > 0) return first;
  // The workspace that removed the user returns the refusal.
  return removed.slice(0, 1).map((workspace) => ({ workspace, how: 'tied' }));
}
