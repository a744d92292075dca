// Accounts of the identity provider.
import { describe, expect, it } from 'vitest';

import type { SignIn } from '../../../store/identity-port.ts';
import { addWorkspace, atOnce, codeOf, startMs, unique, valueOf, type Backend } from '../fixtures.ts';
import { useStores } from './opened.ts';

const issuer = 'https://login.example.com';
const aSignIn = (over: Partial<SignIn['account']> = {}, rest: Partial<SignIn> = {}): SignIn => ({
  account: { issuer, subject: unique('sub'), email: null, ...over },
  ...{ workspace: null, newPeople: null },
  token: { id: unique('t'), secretHash: 's'.repeat(64), expiresAtMs: startMs + 1_000 },
  ...rest,
});

export function describeIdentities(backend: Backend): void {
  describe('accounts of the identity provider', () => {
    const stores = useStores(backend);
    const addUser = async (slug: string, name: string): Promise<void> =>
      void valueOf(await stores().store.people.putUser(slug, { name, role: 'member', by: null }, startMs));

    it('are tied to the user of their address once, when they sign in at the same time', async () => {
      const { slug } = await addWorkspace(stores().store);
      const email = `${unique('ann')}@example.com`;
      await addUser(slug, email);
      const signIns = await atOnce(6, stores(), (store, index) =>
        store.identities.signIn(aSignIn({ subject: `${email}-${index % 2}`, email }), startMs),
      );
      const accepted = signIns.map((answer) => codeOf(answer) === null);
      expect([accepted.slice(0, 6).filter(Boolean).length, new Set(signIns.map(codeOf))]).toEqual([
        3,
        new Set([null, 'FORBIDDEN']),
      ]);
      const tokens = await stores().other.people.listTokens(slug, { user: email });
      expect(tokens.map(({ scopes, createdBy }) => [scopes, createdBy])).toEqual(
        Array.from({ length: 3 }, () => [['read', 'write'], email]),
      );
    });

    it('of one address and of another issuer are different ones', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const email = `${unique('ann')}@example.com`;
      await addUser(slug, email);
      const first = aSignIn({ email });
      expect(valueOf(await store.identities.signIn(first, startMs))).toMatchObject({ workspace: slug });
      const elsewhere = { ...first.account, issuer: 'https://other.example.com', email: null };
      expect(codeOf(await store.identities.signIn(aSignIn(elsewhere), startMs))).toBe('FORBIDDEN');
    });

    it('become one new user when they sign in at the same time, and none after that was removed', async () => {
      const { store } = stores();
      const { slug, admin } = await addWorkspace(store);
      const account = { subject: unique('sub'), email: `${unique('new')}@example.com` };
      const newPeople = { workspace: slug, role: 'member' } as const;
      const signIns = await atOnce(6, stores(), (each) =>
        each.identities.signIn(aSignIn(account, { newPeople }), startMs),
      );
      expect(signIns.map(codeOf)).toEqual(Array.from({ length: 6 }, () => null));
      expect((await store.people.listUsers(slug)).map(({ name }) => name).toSorted()).toEqual(
        ['ada', account.email].toSorted(),
      );
      valueOf(await store.people.removeUser(slug, { name: account.email, by: admin }, startMs));
      const again = aSignIn(account, { newPeople });
      expect(codeOf(await store.identities.signIn(again, startMs))).toBe('FORBIDDEN');
      // Nor with another account of that address.
      const second = aSignIn({ ...account, subject: unique('sub') }, { newPeople });
      expect(codeOf(await store.identities.signIn(second, startMs))).toBe('FORBIDDEN');
      const named = { ...second, workspace: slug };
      expect(codeOf(await store.identities.signIn(named, startMs))).toBe('FORBIDDEN');
      await addUser(slug, account.email);
      expect(codeOf(await store.identities.signIn(again, startMs))).toBeNull();
    });

    it('belong to each workspace that has added their address', async () => {
      const { store } = stores();
      const [one, two] = [await addWorkspace(store), await addWorkspace(store)];
      const email = `${unique('ann')}@example.com`;
      for (const { slug } of [one, two]) await addUser(slug, email);
      const account = { subject: unique('sub'), email };
      const slugs = [one.slug, two.slug].toSorted();
      const choose = slugs.map((workspace) => ({ workspace, how: 'added' }));
      expect(valueOf(await store.identities.signIn(aSignIn(account), startMs))).toEqual({ choose });
      const signIn = aSignIn(account, { workspace: two.slug });
      expect(valueOf(await store.identities.signIn(signIn, startMs))).toMatchObject({
        ...{ workspace: two.slug, issued: { id: signIn.token.id, user: email, scopes: ['read', 'write'] } },
      });
      // Linked in one, and found by its address in the other.
      expect(valueOf(await store.identities.signIn(aSignIn(account), startMs))).toEqual({
        choose: [two, one].map(({ slug }, at) => ({ workspace: slug, how: at === 0 ? 'tied' : 'added' })),
      });
      const withoutAddress = aSignIn({ ...account, email: null });
      expect(valueOf(await store.identities.signIn(withoutAddress, startMs))).toMatchObject({ workspace: two.slug });
    });
  });
}
