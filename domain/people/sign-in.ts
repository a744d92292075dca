// Identifies a person whom the identity provider has authenticated. An account is tied to a user permanently, by issuer and subject. At the first
// sign-in, a verified e-mail address finds the user of that name, whom an admin has added. A name that is tied to another account is not found this
// way, because addresses are reassigned to other people and subjects are not.
import type { Problem } from '../errors.ts';
import { scopesOfRole } from './authority.ts';
import { peopleEvent } from './events.ts';
import { maxTokensPerUser, maxUsersPerWorkspace } from './limits.ts';
import type { PeopleEvent, Role, Token, User } from './state.ts';
import { newUser, tooManyTokens } from './tokens.ts';
import { tooManyUsers, userNamePattern } from './users.ts';

/** The workspace and role of people who become users by signing in. */
export interface NewPeople {
  workspace: string;
  role: Exclude<Role, 'admin'>;
}

/** An account of the identity provider. `email`: verified, ASCII, lower case; null without one. */
export interface Account {
  issuer: string;
  subject: string;
  email: string | null;
}

export interface SignInContext {
  slug: string;
  /** The account is tied to a user of this workspace, who may have been removed. */
  isTied: boolean;
  /** The user to whom the account is tied. */
  tied: User | null;
  /** A user of that name was removed and not added again. */
  isRemoved: boolean;
  /** The user whose name is the account's e-mail address. */
  named: User | null;
  /** `named` is tied to another account. */
  isNamedTaken: boolean;
  newPeople: NewPeople | null;
  users: number;
  /** Number of the user's tokens that count towards `maxTokensPerUser`. */
  counted: number;
  newUserId: string;
}

export interface SignedInRows {
  user: User;
  token: Token;
  /** The user must be added. */
  isNew: boolean;
  /** The account must be tied to the user. */
  isNewlyTied: boolean;
  events: PeopleEvent[];
}

/** The session is a token with all scopes of the user's role except `operator`; tokens with that scope are created on the control plane's host. */
export function newSession(
  { slug, user, counted }: { slug: string; user: User; counted: number },
  given: { id: string; secretHash: string; expiresAtMs: number },
  nowMs: number,
): { ok: Token } | { error: Problem } {
  if (counted >= maxTokensPerUser) return { error: tooManyTokens(user.name) };
  return {
    ok: {
      ...given,
      ...{ user: user.name, userId: user.id, name: 'web sign-in', createdBy: user.name },
      scopes: scopesOfRole(user.role, slug).filter((scope) => scope !== 'operator'),
      ...{ createdAtMs: nowMs, revokedAtMs: null },
    },
  };
}

export function signIn(
  context: SignInContext,
  account: Account,
  given: { id: string; secretHash: string; expiresAtMs: number },
  nowMs: number,
): { ok: SignedInRows } | { error: Problem } {
  const found = findUser(context, account, nowMs);
  if ('error' in found) return found;
  const { user, isNew, isNewlyTied } = found;
  const session = newSession({ slug: context.slug, user, counted: context.counted }, given, nowMs);
  if ('error' in session) return session;
  const token = session.ok;
  const by = { user: user.name, tokenId: token.id };
  const events = [
    ...(isNew ? [peopleEvent(by, 'USER_ADDED', `${user.name}: ${user.role}, by signing in`, nowMs)] : []),
    ...(isNewlyTied ? [peopleEvent(by, 'ACCOUNT_TIED', `${user.name}: an account of ${account.issuer}`, nowMs)] : []),
  ];
  return { ok: { user, token, isNew, isNewlyTied, events } };
}

type Found = { user: User; isNew: boolean; isNewlyTied: boolean } | { error: Problem };

function findUser(context: SignInContext, { email }: Account, nowMs: number): Found {
  const { slug, isTied, isRemoved, tied, named, isNamedTaken, newPeople, users, newUserId } = context;
  if (tied !== null) return { user: tied, isNew: false, isNewlyTied: false };
  if (named !== null && isNamedTaken) return { error: addressTaken };
  if (named !== null) return { user: named, isNew: false, isNewlyTied: true };
  if (isTied || isRemoved) return { error: removed };
  if (email === null) return { error: unverified };
  if (newPeople?.workspace !== slug) return { error: unknownPerson(email) };
  if (users >= maxUsersPerWorkspace) return { error: tooManyUsers };
  if (!userNamePattern.test(email)) return { error: impossibleName };
  return { user: newUser({ id: newUserId, name: email, role: newPeople.role }, nowMs), isNew: true, isNewlyTied: true };
}

/** Refuses addresses outside the given domains. Where domains are given, an account without a verified address cannot sign in. */
export function refuseDomain(email: string | null, domains: readonly string[] | null): Problem | null {
  if (domains === null) return null;
  if (email === null) return unverified;
  const domain = email.slice(email.lastIndexOf('@') + 1);
  return domains.includes(domain) ? null : otherDomain(domain);
}

export const unknownPerson = (email: string | null): Problem =>
  email === null
    ? unverified
    : {
        code: 'FORBIDDEN',
        message: `You are signed in at the identity provider, but no workspace has a user ${email}.`,
        hint: `An admin adds you: \`ropewalk user set ${email} --role member\`.`,
      };

const unverified: Problem = {
  code: 'FORBIDDEN',
  message:
    'The identity provider has sent no usable e-mail address for your account: verified (email_verified), in ASCII.',
  hint: 'Verify your address there, or use one of ASCII characters, and sign in again.',
};

const addressTaken: Problem = {
  code: 'FORBIDDEN',
  message: 'The user with your e-mail address belongs to another account of the identity provider.',
  hint: 'An admin can remove that user and add them again; then the address is free.',
};

const removed: Problem = {
  code: 'FORBIDDEN',
  message: 'An admin has removed you from the workspace.',
  hint: 'An admin can add you again: `ropewalk user set NAME`, where NAME is your e-mail address.',
};

const otherDomain = (domain: string): Problem => ({
  code: 'FORBIDDEN',
  message: `Addresses of ${domain} do not sign in here.`,
  hint: 'Sign in with another account. An operator sets the domains: ROPEWALK_OIDC_DOMAINS.',
});

const impossibleName: Problem = {
  code: 'FORBIDDEN',
  message:
    'Your e-mail address cannot be the name of a user: letters, digits, ".", "_", "@", "+" and "-", at most 100.',
};
