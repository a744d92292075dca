// Named environments: a name points to one content, and each sealed content is in use or reported as unused once.
import { describe, expect, it } from 'vitest';

import { maxNamedEnvironments } from '../../../domain/software/limits.ts';
import type { PutEnvironment } from '../../../store/environment-port.ts';
import { addWorkspace, atOnce, codeOf, startMs, unique, valueOf, type Backend } from '../fixtures.ts';
import { useStores } from './opened.ts';

const item = (name: string, hash: string): PutEnvironment => ({
  ...{ name, hash, contentRef: unique('vault/content'), kind: 'environment', summary: `hash ${hash}`, user: 'ada' },
});

export function describeEnvironments(backend: Backend): void {
  describe('environments', () => {
    const stores = useStores(backend);

    it('count a version for each new content, and keep an unchanged one', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const [first, same, second] = [item('science', 'a'), item('science', 'a'), item('science', 'b')];
      expect(valueOf(await store.environments.put(slug, first, startMs))).toMatchObject({
        environment: { version: 1, contentRef: first.contentRef, createdAtMs: startMs },
        unused: null,
      });
      expect(valueOf(await other.environments.put(slug, same, startMs + 1))).toMatchObject({
        environment: { version: 1, contentRef: first.contentRef, updatedAtMs: startMs },
        unused: same.contentRef,
      });
      // A repeated request after a lost answer: its content is in use.
      expect(valueOf(await store.environments.put(slug, first, startMs + 1))).toMatchObject({ unused: null });
      expect(valueOf(await other.environments.put(slug, second, startMs + 2))).toMatchObject({
        environment: { version: 2, contentRef: second.contentRef, createdAtMs: startMs, updatedAtMs: startMs + 2 },
        unused: first.contentRef,
      });
      expect(await store.environments.find(slug, 'science')).toMatchObject({ hash: 'b', version: 2 });
      expect(await store.environments.remove(slug, { name: 'science', user: 'ada' }, startMs)).toMatchObject({
        contentRef: second.contentRef,
      });
      expect(await store.environments.remove(slug, { name: 'science', user: 'ada' }, startMs)).toBeNull();
      const events = await store.workspaces.events(slug, 3);
      expect(events.map(({ code }) => code)).toEqual(['ENVIRONMENT_DELETED', 'ENVIRONMENT_SET', 'ENVIRONMENT_SET']);
    });

    it('of one name that many set at once have one content, and every other one is reported as unused', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      const items = Array.from({ length: 20 }, (_, index) => item('race', `h${index % 4}`));
      const answers = await atOnce(20, stores(), async (each, index) => {
        const given = items[index] ?? item('race', 'none');
        return valueOf(await each.environments.put(slug, given, startMs + index));
      });
      const unused = answers.flatMap((answer) => (answer.unused === null ? [] : [answer.unused]));
      const kept = (await store.environments.find(slug, 'race'))?.contentRef ?? '';
      expect(new Set(unused).size).toBe(unused.length);
      expect([...unused, kept].toSorted()).toEqual(items.map(({ contentRef }) => contentRef).toSorted());
      const versions = answers.map(({ environment }) => environment.version);
      expect(Math.max(...versions)).toBe((await store.environments.find(slug, 'race'))?.version);
    });

    it('are listed by name, in pages, of one workspace', async () => {
      const { store, other } = stores();
      const [{ slug }, elsewhere] = [await addWorkspace(store), await addWorkspace(store)];
      for (const name of ['c', 'a', 'b']) valueOf(await store.environments.put(slug, item(name, name), startMs));
      valueOf(await store.environments.put(elsewhere.slug, item('a', 'a'), startMs));
      const names = async (after: string | null, limit: number) =>
        (await other.environments.list(slug, { after, limit })).map(({ name }) => name);
      expect([await names(null, 2), await names('b', 2), await names('c', 2)]).toEqual([['a', 'b'], ['c'], []]);
      expect(await store.environments.find(elsewhere.slug, 'b')).toBeNull();
    });

    it('of a workspace are limited, and requests at once do not exceed the limit', async () => {
      const { store } = stores();
      const { slug } = await addWorkspace(store);
      for (let index = 0; index < maxNamedEnvironments - 2; index += 1) {
        valueOf(await store.environments.put(slug, item(`e${index}`, 'a'), startMs));
      }
      const answers = await atOnce(6, stores(), (each, index) =>
        each.environments.put(slug, item(`more-${index}`, 'a'), startMs),
      );
      expect(answers.map(codeOf).filter((code) => code === 'LIMIT_EXCEEDED')).toHaveLength(4);
      expect(codeOf(await store.environments.put(slug, item('e0', 'b'), startMs))).toBeNull();
      expect(codeOf(await store.environments.put('missing', item('e', 'a'), startMs))).toBe('NOT_FOUND');
    });
  });
}
