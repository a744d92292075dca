// The user that a sign-in at the identity provider finds, its additions, and its refusals.
import { describe, expect, it } from 'vitest';

import { maxTokensPerUser, maxUsersPerWorkspace } from '../../../domain/people/limits.ts';
import {
  refuseDomain,
  signIn,
  unknownPerson,
  type Account,
  type SignInContext,
} from '../../../domain/people/sign-in.ts';
import type { User } from '../../../domain/people/state.ts';
import { newUser, tooManyTokens } from '../../../domain/people/tokens.ts';
import { tooManyUsers } from '../../../domain/people/users.ts';

const nowMs = 1_000_000;
const email = 'ada@example.com';
const account: Account = { issuer: 'https://id.example', subject: 'subject-1', email };
const given = { id: 'tok1', secretHash: 'hash', expiresAtMs: nowMs + 3_600_000 };
const ada: User = newUser({ id: 'u_ada', name: email, role: 'member' }, 5);

const empty: SignInContext = {
  slug: 'default',
  isTied: false,
  isRemoved: false,
  tied: null,
  named: null,
  isNamedTaken: false,
  newPeople: null,
  users: 1,
  counted: 0,
  newUserId: 'u_new',
};

const rows = (change: Partial<SignInContext>, who: Partial<Account> = {}) => {
  const answer = signIn({ ...empty, ...change }, { ...account, ...who }, given, nowMs);
  if ('error' in answer) throw new Error(answer.error.message);
  return answer.ok;
};
const problem = (change: Partial<SignInContext>, who: Partial<Account> = {}) => {
  const answer = signIn({ ...empty, ...change }, { ...account, ...who }, given, nowMs);
  return 'error' in answer ? answer.error : null;
};

describe('a sign-in', () => {
  it('of a tied account is that user, whatever their address is now', () => {
    const byAddress = { isTied: true, tied: ada };
    const found = rows(byAddress, { email: null });
    expect(found).toMatchObject({ user: ada, isNew: false, isNewlyTied: false, events: [] });
    expect(rows({ ...byAddress, named: newUser({ id: 'u_x', name: 'x', role: 'admin' }, 1) }).user).toBe(ada);
  });

  it('makes a token of the user with all scopes of the role but operator', () => {
    expect(rows({ isTied: true, tied: ada }).token).toEqual({
      ...{ id: 'tok1', secretHash: 'hash', user: email, userId: 'u_ada', name: 'web sign-in', createdBy: email },
      ...{ scopes: ['read', 'write'], createdAtMs: nowMs, expiresAtMs: given.expiresAtMs, revokedAtMs: null },
    });
    expect(rows({ isTied: true, tied: { ...ada, role: 'admin' } }).token.scopes).toEqual(['read', 'write', 'admin']);
    expect(rows({ isTied: true, tied: { ...ada, role: 'read-only' } }).token.scopes).toEqual(['read']);
  });

  it('ties an account to the user whose name is its verified address, once, and records it', () => {
    const found = rows({ named: ada });
    expect(found).toMatchObject({ user: ada, isNew: false, isNewlyTied: true });
    expect(found.events.map(({ code, text, by }) => [code, text, by])).toEqual([
      ['ACCOUNT_TIED', `${email}: an account of https://id.example`, email],
    ]);
  });

  it('adds a new person where the operator lets them in', () => {
    const found = rows({ newPeople: { workspace: 'default', role: 'read-only' }, users: maxUsersPerWorkspace - 1 });
    expect(found).toMatchObject({ isNew: true, isNewlyTied: true });
    expect(found.user).toEqual(newUser({ id: 'u_new', name: email, role: 'read-only' }, nowMs));
    expect(found.token).toMatchObject({ userId: 'u_new', scopes: ['read'] });
    expect(found.events.map(({ code, text }) => [code, text])).toEqual([
      ['USER_ADDED', `${email}: read-only, by signing in`],
      ['ACCOUNT_TIED', `${email}: an account of https://id.example`],
    ]);
  });

  it.each<[what: string, Partial<SignInContext>, Partial<Account>, { message: string; hint: string }]>([
    [
      'an address that belongs to another account',
      { named: ada, isNamedTaken: true },
      {},
      {
        message: 'The user with your e-mail address belongs to another account of the identity provider.',
        hint: 'An admin can remove that user and add them again; then the address is free.',
      },
    ],
    [
      'a person whom an admin has removed, also where new people are let in',
      { isTied: true, newPeople: { workspace: 'default', role: 'member' } },
      {},
      {
        message: 'An admin has removed you from the workspace.',
        hint: 'An admin can add you again: `ropewalk user set NAME`, where NAME is your e-mail address.',
      },
    ],
    [
      'an account without a verified address',
      { newPeople: { workspace: 'default', role: 'member' } },
      { email: null },
      {
        message:
          'The identity provider has sent no usable e-mail address for your account: verified (email_verified), in ASCII.',
        hint: 'Verify your address there, or use one of ASCII characters, and sign in again.',
      },
    ],
    [
      'a person whom no admin has added',
      {},
      {},
      {
        message: `You are signed in at the identity provider, but no workspace has a user ${email}.`,
        hint: `An admin adds you: \`ropewalk user set ${email} --role member\`.`,
      },
    ],
  ])('refuses %s', (_, context, who, expected) => {
    expect(problem(context, who)).toEqual({ code: 'FORBIDDEN', ...expected });
  });

  it('refuses new people of another workspace, beyond the limit, and with an address that can be no name', () => {
    expect(problem({ newPeople: { workspace: 'other', role: 'member' } })).toEqual(unknownPerson(email));
    const newPeople = { workspace: 'default', role: 'member' } as const;
    expect(problem({ newPeople, users: maxUsersPerWorkspace })).toEqual(tooManyUsers);
    for (const address of ['a b@example.com', '.a@example.com', `${'a'.repeat(100)}@example.com`, 'é@example.com']) {
      expect(problem({ newPeople }, { email: address })?.message).toBe(
        'Your e-mail address cannot be the name of a user: letters, digits, ".", "_", "@", "+" and "-", at most 100.',
      );
    }
    expect(problem({ newPeople }, { email: 'A.b_c+d-e@example.com' })).toBeNull();
  });

  it('refuses a user who has all the tokens that one may have', () => {
    expect(problem({ isTied: true, tied: ada, counted: maxTokensPerUser - 1 })).toBeNull();
    expect(problem({ isTied: true, tied: ada, counted: maxTokensPerUser })).toEqual(tooManyTokens(email));
  });
});

it('only addresses of the named domains sign in, whatever is before the last @', () => {
  expect(refuseDomain(null, null)).toBeNull();
  expect(refuseDomain(email, null)).toBeNull();
  expect(refuseDomain(email, ['other.example', 'example.com'])).toBeNull();
  expect(refuseDomain('"ada@example.com"@evil.example', ['example.com'])).toEqual({
    code: 'FORBIDDEN',
    message: 'Addresses of evil.example do not sign in here.',
    hint: 'Sign in with another account. An operator sets the domains: ROPEWALK_OIDC_DOMAINS.',
  });
  expect(refuseDomain('ada@sub.example.com', ['example.com'])?.code).toBe('FORBIDDEN');
  expect(refuseDomain(null, ['example.com'])?.message).toContain('no usable e-mail address');
  expect(unknownPerson(null).message).toContain('no usable e-mail address');
});
