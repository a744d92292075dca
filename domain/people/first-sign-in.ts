// Which address of an account counts, and to which workspaces the account may go.
import type { NewPeople } from './sign-in.ts';

/**
 * In lower case; null when it is not verified or no plain address. Only ASCII: other characters may fold to the letters of
 * another person's address (U+212A, the Kelvin sign, has the lower case "k").
 */
export const usableAddress = (email: unknown, isVerified: unknown): string | null =>
  isVerified === true && typeof email === 'string' && plainAddress.test(email) ? email.toLowerCase() : null;

/** Printable ASCII with one "@". */
const plainAddress = /^[!-?A-~]+@[!-?A-~]+$/;

/** `tied`: an account that has signed in there before. `added`: by an admin. `new`: as the operator lets people in. */
export interface WorkspaceChoice {
  workspace: string;
  how: 'tied' | 'added' | 'new';
}

export interface KnownPlaces {
  /** Where the account is tied to a user. */
  tied: readonly string[];
  /** Where the address is the name of a user. */
  named: readonly string[];
  /** Where the account's user, or the user of the address, was removed. */
  removed: readonly string[];
  newPeople: NewPeople | null;
  email: string | null;
}

/**
 * More than one is the person's choice: an admin who adds an address in a workspace of their own must not lead that person
 * away from the workspace of the operator's choice, or from another one.
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
  // What it is refused for is said by the workspace that has removed it.
  return removed.slice(0, 1).map((workspace) => ({ workspace, how: 'tied' }));
}
