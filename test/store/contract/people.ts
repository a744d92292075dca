// Users and API tokens.
import { describe, expect, it } from 'vitest';

import type { IssueToken } from '../../../domain/people/state.ts';
import type { Store } from '../../../store/store.ts';
import { addWorkspace, atOnce, codeOf, expectOne, startMs, unique, valueOf, type Backend } from '../fixtures.ts';
import { useStores } from './opened.ts';

const aToken = (over: Partial<IssueToken> = {}): IssueToken => ({
  ...{ id: unique('t'), secretHash: 's'.repeat(64), user: 'ada', expiresAtMs: null, scopes: null, by: null, ...over },
});

/** Adds a user with a token of their own. */
async function addUser(store: Store, slug: string, name: string, role: 'admin' | 'member'): Promise<IssueToken['by']> {
  valueOf(await store.people.putUser(slug, { name, role, by: null }, startMs));
  const { id } = valueOf(await store.people.issueToken(slug, aToken({ user: name }), startMs));
  return { user: name, tokenId: id };
}

export function describePeople(backend: Backend): void {
  describe('users', () => {
    const stores = useStores(backend);

    it('are members unless a role is given, and change only what is named', async () => {
      const { store } = stores();
      const { slug, admin } = await addWorkspace(store);
      const bob = valueOf(
        await store.people.putUser(slug, { name: 'bob', limits: { vcpus: 4 }, by: admin }, startMs + 1),
      );
      expect(bob).toEqual({ id: bob.id, name: 'bob', role: 'member', limits: { vcpus: 4 }, createdAtMs: startMs + 1 });
      expect(bob.id).toMatch(/^u_/);
      const changed = await store.people.putUser(slug, { name: 'bob', role: 'read-only', by: admin }, startMs + 2);
      expect(valueOf(changed)).toEqual({ ...bob, role: 'read-only' });
      const cleared = await store.people.putUser(slug, { name: 'bob', limits: null, by: admin }, startMs + 3);
      expect(valueOf(cleared)).toEqual({ ...bob, role: 'read-only', limits: {} });
      expect(await store.people.listUsers(slug)).toMatchObject([
        { name: 'ada' },
        { ...bob, role: 'read-only', limits: {} },
      ]);
    });

    it('keep one admin when the last two remove each other at the same moment', async () => {
      const { slug, admin } = await addWorkspace(stores().store);
      const bob = await addUser(stores().store, slug, 'bob', 'admin');
      const answers = await atOnce(2, stores(), (store, index) =>
        store.people.removeUser(slug, index === 0 ? { name: 'bob', by: admin } : { name: 'ada', by: bob }, startMs),
      );
      expectOne(answers, (answer) => 'ok' in answer);
      expect(await stores().store.people.listUsers(slug)).toMatchObject([{ role: 'admin' }]);
    });

    it('cannot lose the last admin by a change of role', async () => {
      const { store } = stores();
      const { slug, admin } = await addWorkspace(store);
      const change = { name: 'ada', role: 'member' as const, by: admin };
      expect(codeOf(await store.people.putUser(slug, change, startMs))).toBe('CONFLICT');
    });

    it('lose their tokens when they are removed, and are other users when they are added again', async () => {
      const { store, other } = stores();
      const { slug, admin } = await addWorkspace(store);
      const bob = await addUser(store, slug, 'bob', 'admin');
      const before = await store.people.findToken(slug, bob?.tokenId ?? '');
      expect(before).toMatchObject({ token: { revokedAtMs: null }, user: { name: 'bob' } });
      valueOf(await store.people.removeUser(slug, { name: 'bob', by: admin }, startMs + 5));
      const removed = await other.people.findToken(slug, bob?.tokenId ?? '');
      expect(removed).toMatchObject({ token: { user: 'bob', revokedAtMs: startMs + 5 }, user: null });
      const again = valueOf(await store.people.putUser(slug, { name: 'bob', role: 'admin', by: admin }, startMs + 6));
      expect(again.id).not.toBe(before?.user?.id);
      expect(await other.people.findToken(slug, bob?.tokenId ?? '')).toEqual(removed);
      expect(codeOf(await store.people.putUser(slug, { name: 'eve', by: bob }, startMs + 7))).toBe('UNAUTHENTICATED');
    });

    it('are an admin’s to change', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const bob = await addUser(store, slug, 'bob', 'member');
      expect(codeOf(await store.people.putUser(slug, { name: 'eve', by: bob }, startMs))).toBe('FORBIDDEN');
      expect(codeOf(await store.people.removeUser(slug, { name: 'ada', by: bob }, startMs))).toBe('FORBIDDEN');
      expect(codeOf(await store.people.removeUser(slug, { name: 'eve', by: null }, startMs))).toBe('NOT_FOUND');
      expect(codeOf(await store.people.putUser('missing', { name: 'eve', by: null }, startMs))).toBe('NOT_FOUND');
      expect((await store.people.listUsers(slug)).map(({ name }) => name)).toEqual(['ada', 'bob']);
    });
  });

  describe('tokens', () => {
    const stores = useStores(backend);

    it('are issued once for an id', async () => {
      const { slug } = await addWorkspace(stores().store);
      const item = aToken({ name: 'laptop', expiresAtMs: startMs + 9, scopes: ['read'] });
      const answers = await atOnce(10, stores(), (store) => store.people.issueToken(slug, item, startMs));
      const issued = { id: item.id, user: 'ada', scopes: ['read'], expiresAtMs: startMs + 9 };
      expect(answers).toEqual(answers.map(() => ({ ok: issued })));
      const [token] = await stores().store.people.listTokens(slug, {});
      const expected = { ...issued, secretHash: item.secretHash, name: 'laptop', createdBy: null, revokedAtMs: null };
      expect(token).toMatchObject(expected);
      const otherSecret = await stores().store.people.issueToken(slug, { ...item, secretHash: 'other' }, startMs);
      expect(codeOf(otherSecret)).toBe('CONFLICT');
    });

    it('are found with their user, and are unknown in another workspace', async () => {
      const { store } = stores();
      const { slug, admin } = await addWorkspace(store);
      const elsewhere = await addWorkspace(store);
      expect(await store.people.findToken(slug, admin.tokenId)).toMatchObject({
        token: { id: admin.tokenId, user: 'ada' },
        user: { name: 'ada', role: 'admin', limits: {} },
      });
      expect(await store.people.findToken(elsewhere.slug, admin.tokenId)).toBeNull();
      expect(await store.people.findToken('missing', admin.tokenId)).toBeNull();
    });

    it('are revoked at once, for good, and the first time counts', async () => {
      const { store, other } = stores();
      const { slug, admin } = await addWorkspace(store);
      const { id } = valueOf(await store.people.issueToken(slug, aToken({ by: admin }), startMs));
      const revoked = valueOf(
        await store.people.revokeToken(slug, { id, by: { user: 'ada', tokenId: id } }, startMs + 1),
      );
      expect(revoked).toMatchObject({ id, revokedAtMs: startMs + 1 });
      expect(valueOf(await other.people.revokeToken(slug, { id, by: admin }, startMs + 2))).toEqual(revoked);
      expect((await other.people.findToken(slug, id))?.token).toEqual(revoked);
      const byRevoked = { id: admin.tokenId, by: { user: 'ada', tokenId: id } };
      expect(codeOf(await store.people.revokeToken(slug, byRevoked, startMs))).toBe('UNAUTHENTICATED');
    });

    it('of other users are an admin’s to make and to revoke', async () => {
      const { store } = stores();
      const { slug, admin } = await addWorkspace(store);
      const bob = await addUser(store, slug, 'bob', 'member');
      expect(codeOf(await store.people.issueToken(slug, aToken({ by: bob }), startMs))).toBe('FORBIDDEN');
      expect(codeOf(await store.people.revokeToken(slug, { id: admin.tokenId, by: bob }, startMs))).toBe('NOT_FOUND');
      expect(codeOf(await store.people.issueToken(slug, aToken({ user: 'eve', by: admin }), startMs))).toBe(
        'NOT_FOUND',
      );
      expect(valueOf(await store.people.issueToken(slug, aToken({ user: 'bob', by: admin }), startMs)).scopes).toEqual([
        'read',
        'write',
      ]);
      valueOf(await store.people.revokeToken(slug, { id: bob?.tokenId ?? '', by: admin }, startMs));
    });

    it('are as many as a user needs, listed newest first', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      valueOf(await store.people.putUser(slug, { name: 'ci', by: null }, startMs));
      const ids: string[] = [];
      for (let n = 0; n < 300; n += 1) {
        ids.push(valueOf(await store.people.issueToken(slug, aToken({ user: 'ci' }), startMs + n)).id);
      }
      expect((await store.people.listTokens(slug, { user: 'ci' })).map(({ id }) => id)).toEqual(ids.toReversed());
      expect(await store.people.listTokens(slug, {})).toHaveLength(301);
    });

    it('are deleted 30 days after they ended', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const day = 86_400_000;
      const expired = valueOf(await store.people.issueToken(slug, aToken({ expiresAtMs: startMs }), startMs));
      const revoked = valueOf(await store.people.issueToken(slug, aToken(), startMs));
      valueOf(await store.people.revokeToken(slug, { id: revoked.id, by: null }, startMs));
      valueOf(await store.people.issueToken(slug, aToken(), startMs + 30 * day));
      expect(await store.people.findToken(slug, expired.id)).not.toBeNull();
      valueOf(await store.people.issueToken(slug, aToken(), startMs + 30 * day + 1));
      expect(await store.people.findToken(slug, expired.id)).toBeNull();
      expect(await store.people.findToken(slug, revoked.id)).toBeNull();
      expect(await store.people.listTokens(slug, {})).toHaveLength(3);
    });
  });
}
