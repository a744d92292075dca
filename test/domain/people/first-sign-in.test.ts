// The addresses that count, and the workspaces that an account may enter.
import { describe, expect, it } from 'vitest';

import { usableAddress, workspacesOf, type KnownPlaces } from '../../../domain/people/first-sign-in.ts';

describe('an address', () => {
  it('counts when it is verified and plain, in lower case', () => {
    expect(usableAddress('Ann.Lee+x@Example.com', true)).toBe('ann.lee+x@example.com');
    for (const isVerified of [false, undefined, 'true', 1]) expect(usableAddress('a@b.c', isVerified)).toBeNull();
  });

  it.each([
    'mar\u212A@example.com',
    'a@\u017Fx.com',
    'a@\uFF45x.com',
    'a@b@c',
    '@b',
    'a@',
    'a b@c',
    'a@b\n',
    'ab',
    '',
    7,
  ])('%j does not count', (email) => expect(usableAddress(email, true)).toBeNull());

  it('has no letter that another character folds to', () => {
    const others = Array.from({ length: 0x11_0000 - 0x80 }, (_, at) => String.fromCodePoint(0x80 + at));
    expect(others.filter((other) => usableAddress(`a${other}@b`, true) !== null)).toEqual([]);
  });
});

describe('an account without a workspace', () => {
  const newPeople = { workspace: 'default', role: 'member' } as const;
  const none: KnownPlaces = { tied: [], named: [], removed: [], newPeople: null, email: 'a@b' };
  const places = (change: Partial<KnownPlaces>) =>
    workspacesOf({ ...none, ...change }).map(({ workspace, how }) => `${workspace} ${how}`);

  it('goes where it is known', () => {
    expect(places({})).toEqual([]);
    expect(places({ named: ['x'] })).toEqual(['x added']);
    expect(places({ tied: ['z', 'y'], named: ['y', 'x'] })).toEqual(['y tied', 'z tied', 'x added']);
  });

  it('has the workspace of new people among its choices, also when others name its address', () => {
    expect(places({ newPeople })).toEqual(['default new']);
    expect(places({ newPeople, named: ['other'] })).toEqual(['other added', 'default new']);
    expect(places({ newPeople, tied: ['other'] })).toEqual(['other tied', 'default new']);
    expect(places({ newPeople, tied: ['default'], named: ['default'] })).toEqual(['default tied']);
  });

  it('is no new person without an address, or where it was removed', () => {
    expect(places({ newPeople, email: null })).toEqual([]);
    expect(places({ newPeople, removed: ['default'] })).toEqual(['default tied']);
    expect(places({ newPeople, removed: ['default'], named: ['other'] })).toEqual(['other added']);
    expect(places({ newPeople, removed: ['default'], named: ['default'] })).toEqual(['default added']);
  });
});
