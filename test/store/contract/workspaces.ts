// Workspaces: their first admin, limits, usage and changes.
import { describe, expect, it } from 'vitest';

import { defaultLimits } from '../../../domain/quota/limits.ts';
import {
  addWorkspace,
  admitted,
  atOnce,
  codeOf,
  expectOne,
  startMs,
  unique,
  valueOf,
  type Backend,
} from '../fixtures.ts';
import { useStores } from './opened.ts';

const adminWith = (id: string, name = 'ada') => ({ name, token: { id, secretHash: 'a', expiresAtMs: null } });

export function describeWorkspaces(backend: Backend): void {
  describe('workspaces', () => {
    const stores = useStores(backend);

    it('are created with a first admin, by one caller of many', async () => {
      const slug = unique('race');
      const answers = await atOnce(20, stores(), (store, index) =>
        store.workspaces.create({ slug, admin: adminWith(`t${index}`, `user-${index}`), nowMs: startMs }),
      );
      expectOne(answers, (answer) => 'ok' in answer);
      expect(answers.map(codeOf).filter((code) => code === 'CONFLICT')).toHaveLength(19);
      expect(await stores().store.people.listUsers(slug)).toMatchObject([{ role: 'admin' }]);
    });

    it('answer a repeated creation with the same token', async () => {
      const input = { slug: unique('w'), admin: adminWith('again'), nowMs: startMs };
      const first = await stores().store.workspaces.create(input);
      expect(valueOf(first)).toMatchObject({ id: 'again', user: 'ada', scopes: ['read', 'write', 'admin'] });
      expect(await stores().other.workspaces.create(input)).toEqual(first);
      expect(await stores().store.people.listTokens(input.slug, {})).toHaveLength(1);
    });

    it('refuse a slug that cannot be part of a URL', async () => {
      for (const slug of ['', 'A', '-a', 'a b', 'a'.repeat(41), 'ä']) {
        const answer = await stores().store.workspaces.create({ slug, admin: adminWith('t'), nowMs: startMs });
        expect(codeOf(answer)).toBe('VALIDATION');
      }
    });

    it('make the admins of the workspace default operators', async () => {
      const input = { slug: 'default', admin: adminWith('op'), nowMs: startMs };
      expect(valueOf(await stores().store.workspaces.create(input)).scopes).toContain('operator');
    });

    it('are found and listed by slug', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      expect(await other.workspaces.find(slug)).toEqual({
        slug,
        createdAtMs: startMs,
        limits: defaultLimits,
        perUser: {},
        defaults: {},
      });
      expect(await store.workspaces.find('constructor')).toBeNull();
      const slugs = (await other.workspaces.list()).map((each) => each.slug);
      expect(slugs).toContain(slug);
      expect(slugs).toEqual(slugs.toSorted());
    });

    it('change only the limits that are named', async () => {
      const { store } = stores();
      const { slug, admin } = await addWorkspace(store);
      const first = { limits: { vcpus: 7 }, perUser: { running: 3, instances: 4 }, by: admin };
      valueOf(await store.workspaces.configure(slug, first, startMs));
      const expected = { limits: { ...defaultLimits, vcpus: 7 }, perUser: { running: 3, instances: 4 } };
      expect(await store.workspaces.find(slug)).toMatchObject(expected);
      const second = await store.workspaces.configure(slug, { limits: { running: 0 }, by: null }, startMs);
      expect(valueOf(second)).toMatchObject({ limits: { running: 0, vcpus: 7 }, perUser: expected.perUser });
      const third = { limits: {}, perUser: null, by: admin };
      expect(valueOf(await store.workspaces.configure(slug, third, startMs)).perUser).toEqual({});
    });

    it('replace their defaults, as an admin only', async () => {
      const { store, other } = stores();
      const { slug, admin } = await addWorkspace(store);
      const first = { defaults: { region: 'us-west-2', allowSsh: false }, by: admin };
      expect(valueOf(await store.workspaces.setDefaults(slug, first, startMs)).defaults).toEqual(first.defaults);
      valueOf(await store.workspaces.setDefaults(slug, { defaults: { zone: 'a' }, by: null }, startMs));
      expect((await other.workspaces.find(slug))?.defaults).toEqual({ zone: 'a' });
      const unknown = { defaults: {}, by: { user: 'ada', tokenId: 'nothing' } };
      expect(codeOf(await store.workspaces.setDefaults(slug, unknown, startMs))).toBe('UNAUTHENTICATED');
      expect(codeOf(await store.workspaces.setDefaults('missing', { defaults: {}, by: null }, startMs))).toBe(
        'NOT_FOUND',
      );
      expect((await store.workspaces.find(slug))?.defaults).toEqual({ zone: 'a' });
    });

    it('let only an admin change limits', async () => {
      const { store } = stores();
      const { slug, admin } = await addWorkspace(store);
      const token = {
        id: unique('t'),
        secretHash: 'x',
        user: 'ada',
        expiresAtMs: null,
        scopes: ['write' as const],
        by: admin,
      };
      valueOf(await store.people.issueToken(slug, token, startMs));
      const by = { user: 'ada', tokenId: token.id };
      expect(codeOf(await store.workspaces.configure(slug, { limits: {}, by }, startMs))).toBe('FORBIDDEN');
      const unknown = { user: 'ada', tokenId: 'nothing' };
      expect(codeOf(await store.workspaces.configure(slug, { limits: {}, by: unknown }, startMs))).toBe(
        'UNAUTHENTICATED',
      );
      expect(codeOf(await store.workspaces.configure('missing', { limits: {}, by: null }, startMs))).toBe('NOT_FOUND');
    });

    it('sum what is in use, in all and by user', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      await admitted(store, slug, { instances: 3, vcpus: 12 });
      await admitted(store, slug, { user: 'bob', instances: 2, vcpus: 2 });
      await admitted(store, slug, { user: 'bob' });
      const elsewhere = await addWorkspace(store);
      await admitted(store, elsewhere.slug, { instances: 50 });
      expect(await store.workspaces.usage(slug)).toEqual({
        total: { running: 3, instances: 6, vcpus: 15 },
        byUser: [
          { user: 'ada', use: { running: 1, instances: 3, vcpus: 12 } },
          { user: 'bob', use: { running: 2, instances: 3, vcpus: 3 } },
        ],
      });
      const empty = { total: { running: 0, instances: 0, vcpus: 0 }, byUser: [] };
      expect(await store.workspaces.usage('missing')).toEqual(empty);
    });

    it('list changes of people and limits, newest first', async () => {
      const { store } = stores();
      const { slug, admin } = await addWorkspace(store);
      valueOf(await store.people.putUser(slug, { name: 'bob', by: admin }, startMs + 1));
      valueOf(await store.workspaces.configure(slug, { limits: { vcpus: 1 }, by: null }, startMs + 2));
      const events = await store.workspaces.events(slug, 2);
      expect(events).toEqual([
        { atMs: startMs + 2, by: null, code: 'LIMITS', text: expect.stringContaining(', 1 vCPU;') },
        { atMs: startMs + 1, by: 'ada', code: 'USER_ADDED', text: 'bob: member' },
      ]);
      expect(await store.workspaces.events(slug, 10)).toHaveLength(3);
    });
  });
}
