// Links in e-mails that sign in.
import { describe, expect, it } from 'vitest';

import type { NewMailLink, UseMailLink } from '../../../store/mail-link-port.ts';
import { addWorkspace, atOnce, codeOf, expectOne, startMs, unique, valueOf, type Backend } from '../fixtures.ts';
import { useStores } from './opened.ts';

const aLink = (address: string, more: Partial<NewMailLink> = {}): NewMailLink => ({
  ...{ address, linkHash: unique('link'), browserHash: unique('browser'), expiresAtMs: startMs + 1_000 },
  ...{ hour: 100, maxOfAddress: 3, maxOfAll: 1_000_000 },
  ...more,
});
const use = ({ linkHash, browserHash }: NewMailLink, workspace: string | null = null): UseMailLink => ({
  ...{ linkHash, browserHash, workspace },
  token: { id: unique('t'), secretHash: 's'.repeat(64), expiresAtMs: startMs + 1_000 },
});

export function describeMailLinks(backend: Backend): void {
  describe('links in e-mails', () => {
    const stores = useStores(backend);
    const begin = (link: NewMailLink, nowMs = startMs) => stores().store.mailLinks.begin(link, nowMs);
    const useLink = (item: UseMailLink, nowMs = startMs) => stores().other.mailLinks.use(item, nowMs);
    async function addUser() {
      const { slug, admin } = await addWorkspace(stores().store);
      const name = `${unique('ann')}@example.com`;
      valueOf(await stores().store.people.putUser(slug, { name, role: 'member', by: null }, startMs));
      return { slug, admin, name };
    }

    it('sign in the user of the address once, when they are used at the same time', async () => {
      const { slug, name } = await addUser();
      const link = aLink(name);
      expect(await begin(link)).toBe('begun');
      const used = await atOnce(6, stores(), (store) => store.mailLinks.use(use(link), startMs));
      expectOne(used, (answer) => codeOf(answer) === null);
      expect(new Set(used.map(codeOf))).toEqual(new Set([null, 'EXPIRED']));
      const answer = used.find((each) => codeOf(each) === null);
      if (answer === undefined) throw new Error('none was used');
      expect(valueOf(answer)).toMatchObject({ workspace: slug, issued: { user: name, scopes: ['read', 'write'] } });
      expect(await stores().store.people.listTokens(slug, { user: name })).toHaveLength(1);
    });

    it('are one for an address, when they are requested at the same time, and few in an hour', async () => {
      const { name } = await addUser();
      const links = Array.from({ length: 8 }, () => aLink(name));
      const begun = await Promise.all(
        links.map((link, at) => (at % 2 === 0 ? stores().store : stores().other).mailLinks.begin(link, startMs)),
      );
      expect(begun.filter((each) => each === 'begun')).toHaveLength(3);
      const used = [];
      for (const link of links) used.push(codeOf(await useLink(use(link))));
      expect(used.filter((code) => code === null)).toHaveLength(1);
      expect(await begin(aLink(name))).toBe('too-many');
      expect(await begin(aLink(name, { hour: 101 }))).toBe('begun');
    });

    it('are few in an hour for all addresses together', async () => {
      const hour = 500;
      const names = [await addUser(), await addUser(), await addUser()].map(({ name }) => name);
      const begun = [];
      for (const name of names) begun.push(await begin(aLink(name, { hour, maxOfAll: 2 })));
      expect(begun).toEqual(['begun', 'begun', 'too-many']);
    });

    it('are for users alone, to whom no account is tied', async () => {
      const { slug, name } = await addUser();
      expect(await begin(aLink(`${unique('bob')}@example.com`))).toBe('no-user');
      const link = aLink(name);
      expect(await begin(link)).toBe('begun');
      const account = { issuer: 'https://login.example.com', subject: unique('sub'), email: name };
      const { token } = use(link);
      const signIn = { account, workspace: slug, newPeople: null, token };
      valueOf(await stores().store.identities.signIn(signIn, startMs));
      expect(codeOf(await useLink(use(link)))).toBe('EXPIRED');
      expect(await begin(aLink(name))).toBe('no-user');
    });

    it('end with the user, with their time, and with a newer one', async () => {
      const { slug, admin, name } = await addUser();
      const [first, second] = [aLink(name), aLink(name)];
      await begin(first);
      await begin(second);
      expect(codeOf(await useLink(use(first)))).toBe('EXPIRED');
      expect(codeOf(await useLink(use(second), startMs + 1_000))).toBe('EXPIRED');
      valueOf(await stores().store.people.removeUser(slug, { name, by: admin }, startMs));
      expect(codeOf(await useLink(use(second)))).toBe('EXPIRED');
      valueOf(await stores().store.people.putUser(slug, { name, role: 'member', by: null }, startMs));
      expect(codeOf(await useLink(use(second)))).toBe('EXPIRED');
    });

    it('are of one browser, and not used up by another', async () => {
      const { name } = await addUser();
      const link = aLink(name);
      await begin(link);
      expect(codeOf(await useLink({ ...use(link), browserHash: 'other' }))).toBe('UNAUTHENTICATED');
      expect(codeOf(await useLink({ ...use(link), linkHash: 'other' }))).toBe('EXPIRED');
      expect(codeOf(await useLink(use(link)))).toBeNull();
    });

    it('open each workspace that had added the address, one of them', async () => {
      const { slug, name } = await addUser();
      const [second, late] = [await addWorkspace(stores().store), await addWorkspace(stores().store)];
      const put = { name, role: 'read-only', by: null } as const;
      valueOf(await stores().store.people.putUser(second.slug, put, startMs));
      const link = aLink(name);
      await begin(link);
      valueOf(await stores().store.people.putUser(late.slug, put, startMs));
      expect(valueOf(await useLink(use(link)))).toEqual({ choose: [slug, second.slug].toSorted() });
      expect(codeOf(await useLink(use(link, late.slug)))).toBe('EXPIRED');
      expect(valueOf(await useLink(use(link, second.slug)))).toMatchObject({
        ...{ workspace: second.slug, issued: { scopes: ['read'] } },
      });
      expect(codeOf(await useLink(use(link, slug)))).toBe('EXPIRED');
    });

    it('are deleted when they have expired and their hour has passed', async () => {
      const [one, two] = [await addUser(), await addUser()];
      const link = aLink(one.name, { hour: 100 });
      await begin(link);
      await begin(aLink(two.name, { hour: 101 }), startMs + 999);
      expect(codeOf(await useLink({ ...use(link), browserHash: 'other' }))).toBe('UNAUTHENTICATED');
      await begin(aLink(two.name, { hour: 101, expiresAtMs: startMs + 9_000 }), startMs + 1_000);
      expect(codeOf(await useLink({ ...use(link), browserHash: 'other' }))).toBe('EXPIRED');
    });
  });
}
