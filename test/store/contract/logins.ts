// Sign-ins that wait for a user.
import { describe, expect, it } from 'vitest';

import type { DeviceLogin } from '../../../store/store.ts';
import { atOnce, expectOne, startMs, unique, type Backend } from '../fixtures.ts';
import { useStores } from './opened.ts';

const aLogin = (expiresAtMs = startMs + 1_000): DeviceLogin => ({
  ...{ client: 'cli on laptop', place: '192.0.2.1', secretHash: 'c'.repeat(64), expiresAtMs, decision: null },
});

export function describeLogins(backend: Backend): void {
  describe('device logins', () => {
    const stores = useStores(backend);

    it('begin once for a code', async () => {
      const key = unique('login');
      const begun = await atOnce(10, stores(), (store) => store.logins.begin(key, aLogin(), startMs));
      expectOne(begun, (isBegun) => isBegun);
      expect(await stores().other.logins.find(key, startMs)).toEqual(aLogin());
    });

    it('are decided once', async () => {
      const key = unique('login');
      await stores().store.logins.begin(key, aLogin(), startMs);
      const decided = await atOnce(10, stores(), (store, index) =>
        store.logins.decide(
          key,
          {
            approved: true,
            workspace: 'w',
            user: `user-${index}`,
            tokenId: 't',
            scopes: ['read' as const],
            tokenExpiresAtMs: 7,
          },
          startMs,
        ),
      );
      expectOne(decided, (isDecided) => isDecided);
      const user = `user-${decided.indexOf(true)}`;
      const decision = {
        approved: true,
        workspace: 'w',
        user,
        tokenId: 't',
        scopes: ['read' as const],
        tokenExpiresAtMs: 7,
      };
      expect(await stores().store.logins.find(key, startMs)).toEqual({ ...aLogin(), decision });
      expect(await stores().store.logins.decide(key, { approved: false }, startMs)).toBe(false);
    });

    it('keep any description of their client', async () => {
      const { store } = stores();
      const key = unique('login');
      await store.logins.begin(key, { ...aLogin(), client: 'a\0b' }, startMs);
      expect(await store.logins.find(key, startMs)).toEqual({ ...aLogin(), client: 'a\u{fffd}b' });
    });

    it('can be denied', async () => {
      const { store } = stores();
      const key = unique('login');
      await store.logins.begin(key, aLogin(), startMs);
      expect(await store.logins.decide(key, { approved: false }, startMs)).toBe(true);
      expect((await store.logins.find(key, startMs))?.decision).toEqual({ approved: false });
    });

    it('expire: they are not found and not decided, and their code is free again', async () => {
      const { store } = stores();
      const key = unique('login');
      await store.logins.begin(key, aLogin(startMs + 10), startMs);
      expect(await store.logins.find(key, startMs + 9)).not.toBeNull();
      expect(await store.logins.find(key, startMs + 10)).toBeNull();
      expect(await store.logins.decide(key, { approved: false }, startMs + 10)).toBe(false);
      expect(await store.logins.begin(key, aLogin(startMs + 20), startMs + 9)).toBe(false);
      expect(await store.logins.begin(key, aLogin(startMs + 20), startMs + 10)).toBe(true);
    });

    it('are deleted, the undecided ones alone where that is asked for', async () => {
      const { store } = stores();
      const [open, decided] = [unique('login'), unique('login')];
      await store.logins.begin(open, aLogin(), startMs);
      await store.logins.begin(decided, aLogin(), startMs);
      await store.logins.decide(decided, { approved: false }, startMs);
      for (const key of [open, decided]) await store.logins.deleteUndecided(key);
      expect(await store.logins.find(open, startMs)).toBeNull();
      expect(await store.logins.find(decided, startMs)).not.toBeNull();
      await store.logins.delete(decided);
      expect(await store.logins.find(decided, startMs)).toBeNull();
      expect(await store.logins.decide('unknown', { approved: false }, startMs)).toBe(false);
    });
  });
}
