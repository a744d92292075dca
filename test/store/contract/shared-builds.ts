// Environments that instances share: of many concurrent requests one builds, and one archive counts.
import { describe, expect, it } from 'vitest';

import { buildLeaseMs, maxSharedBuilds } from '../../../domain/environment/limits.ts';
import type { Archive, Builder } from '../../../domain/environment/shared-build.ts';
import type { BuildKey } from '../../../store/shared-build-port.ts';
import { addWorkspace, atOnce, codeOf, startMs, valueOf, type Backend } from '../fixtures.ts';
import { useStores } from './opened.ts';

const builder = (index: number): Builder => ({ instance: `i_builder${index}`, cluster: index, user: 'ada' });
const archive = (letter: string, storedAtMs = startMs): Archive => ({
  ...{ sha256: letter.repeat(64), bytes: 100, unpackedBytes: 300, buildMs: 5_000, storedAtMs },
});
const keyOf = (workspace: string, id: string, content = 'content'): BuildKey => ({
  ...{ workspace, id, content, setup: null, hash: `hash of ${id}`, platform: 'debian-12 glibc-2.36' },
});

export function describeSharedBuilds(backend: Backend): void {
  describe('shared builds', () => {
    const stores = useStores(backend);

    it('that many ask for at once are built by one of them, and fetched by the others afterwards', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const key = keyOf(slug, 'a');
      const ask = (index: number) => ({ builder: builder(index), damaged: null });
      const answers = await atOnce(20, stores(), async (each, index) =>
        valueOf(await each.sharedBuilds.claim(key, ask(index), startMs)),
      );
      const kinds = answers.map(({ answer }) => answer.do);
      expect(kinds.toSorted()).toEqual(['build', ...Array.from({ length: 19 }, () => 'wait')]);
      const item = { claim: 1, builder: builder(kinds.indexOf('build')), archive: archive('a'), isPinned: true };
      expect(await store.sharedBuilds.store(key, item)).toEqual(archive('a'));
      // A second builder that was late.
      expect(await store.sharedBuilds.store(key, { ...item, archive: archive('b') })).toEqual(archive('a'));
      expect(valueOf(await store.sharedBuilds.claim(key, ask(30), startMs)).answer).toEqual({
        do: 'download',
        archive: archive('a'),
      });
      expect(await store.sharedBuilds.find(key)).toMatchObject({ ...key, build: { state: 'stored', claim: 1 } });
    });

    it('of a dead builder go to exactly one other', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const key = keyOf(slug, 'a');
      await store.sharedBuilds.claim(key, { builder: builder(0), damaged: null }, startMs);
      expect(await store.sharedBuilds.renew(key, { claim: 1, stage: 'install' }, startMs + 1_000)).toBe(true);
      const lateMs = startMs + 1_000 + buildLeaseMs;
      const answers = await atOnce(8, stores(), async (each, index) =>
        valueOf(await each.sharedBuilds.claim(key, { builder: builder(index + 1), damaged: null }, lateMs)),
      );
      expect(answers.filter(({ answer }) => answer.do === 'build')).toEqual([
        { answer: { do: 'build', claim: 2 }, dropped: null },
      ]);
      expect(await store.sharedBuilds.renew(key, { claim: 1, stage: null }, lateMs)).toBe(false);
    });

    it('name the archive that a damaged one was, for its deletion, once', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const key = keyOf(slug, 'a');
      await store.sharedBuilds.claim(key, { builder: builder(0), damaged: null }, startMs);
      const item = { claim: 1, builder: builder(0), archive: archive('a'), isPinned: true };
      await store.sharedBuilds.store(key, item);
      const damaged = archive('a').sha256;
      const answers = await atOnce(5, stores(), async (each, index) =>
        valueOf(await each.sharedBuilds.claim(key, { builder: builder(index + 1), damaged }, startMs)),
      );
      expect(answers.filter(({ dropped }) => dropped !== null)).toEqual([
        { answer: { do: 'build', claim: 2 }, dropped: damaged },
      ]);
    });

    it('that failed are built by each instance, and a workspace sees only its own', async () => {
      const { store } = stores();
      const [{ slug }, elsewhere] = [await addWorkspace(store), await addWorkspace(store)];
      const key = keyOf(slug, 'a');
      await store.sharedBuilds.claim(key, { builder: builder(0), damaged: null }, startMs);
      await store.sharedBuilds.giveUp(key, { claim: 1, why: 'failed' }, startMs);
      const ask = { builder: builder(1), damaged: null };
      expect(valueOf(await store.sharedBuilds.claim(key, ask, startMs)).answer).toEqual({ do: 'alone', why: 'failed' });
      const other = keyOf(elsewhere.slug, 'a');
      expect(valueOf(await store.sharedBuilds.claim(other, ask, startMs)).answer).toEqual({ do: 'build', claim: 1 });
      expect(await store.sharedBuilds.listOf(elsewhere.slug, 'content', 10)).toHaveLength(1);
      expect(await store.sharedBuilds.find({ workspace: elsewhere.slug, id: 'b' })).toBeNull();
    });

    it('that are not used are removed, each by one caller', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      for (let index = 0; index < 10; index += 1) {
        const nowMs = startMs - 1_000_000 + index;
        await store.sharedBuilds.claim(keyOf(slug, `u${index}`), { builder: builder(0), damaged: null }, nowMs);
      }
      const query = { beforeMs: startMs - 1_000_000 + 5, limit: 4 };
      const removed = await atOnce(4, stores(), (each) => each.sharedBuilds.removeUnused(query));
      const ids = removed.flat().filter(({ workspace }) => workspace === slug);
      expect(ids.map(({ id }) => id).toSorted()).toEqual(['u0', 'u1', 'u2', 'u3', 'u4', 'u5']);
      expect((await store.sharedBuilds.listOf(slug, 'content', 20)).map(({ id }) => id)).toEqual(
        [9, 8, 7, 6].map((index) => `u${index}`),
      );
    });

    it('of a workspace are limited', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      for (let index = 0; index < maxSharedBuilds; index += 1) {
        valueOf(
          await store.sharedBuilds.claim(keyOf(slug, `m${index}`), { builder: builder(0), damaged: null }, startMs),
        );
      }
      const more = await store.sharedBuilds.claim(keyOf(slug, 'more'), { builder: builder(0), damaged: null }, startMs);
      expect(codeOf(more)).toBe('LIMIT_EXCEEDED');
      expect(
        codeOf(await store.sharedBuilds.claim(keyOf('none', 'a'), { builder: builder(0), damaged: null }, startMs)),
      ).toBe('NOT_FOUND');
    });
  });
}
