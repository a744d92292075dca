// /readyz names the unhealthy part.
import { describe, expect, it } from 'vitest';

import { createReadiness } from '../../services/readiness.ts';
import type { Objects } from '../../platform/objects/objects.ts';
import { memoryObjects } from '../platform/support.ts';
import { eventually } from '../support/eventually.ts';
import { createTestApi, type TestApi } from './support.ts';

const ok = { temporal: 'ok', database: 'ok', keys: 'ok', objects: 'ok' };
const refuse = () => Promise.reject(new Error('disk full'));

describe('readyz', () => {
  const ask = async (api: TestApi) => {
    const response = await api.call('GET', '/readyz', { token: null });
    return { code: response.status, ...(await response.json()) };
  };

  it('says that all is well, and leaves nothing in the store', async () => {
    const objects = memoryObjects();
    expect(await ask(await createTestApi({ objects }))).toEqual({ code: 200, status: 'ok', parts: ok });
    expect(await objects.list('ready/', { limit: 10 })).toEqual([]);
  });

  it('says which part is not: the database, the keys, or a store that takes or gives nothing', async () => {
    const api = await createTestApi();
    api.database.isUnavailable = true;
    expect(await ask(api)).toMatchObject({ code: 503, parts: { ...ok, database: 'unavailable' } });
    expect((await ask(await createTestApi({ readKeys: refuse }))).parts).toEqual({ ...ok, keys: 'unavailable' });
    const full: Objects = { ...memoryObjects(), put: refuse };
    const lossy: Objects = { ...memoryObjects(), get: () => Promise.resolve(null) };
    for (const objects of [full, lossy]) {
      expect((await ask(await createTestApi({ objects }))).parts).toEqual({ ...ok, objects: 'unavailable' });
    }
  });

  it('is ready without Temporal, and says that it is degraded', async () => {
    const api = await createTestApi();
    api.workflows.control.isUnavailable = true;
    expect(await ask(api)).toEqual({ code: 200, status: 'degraded', parts: { ...ok, temporal: 'unavailable' } });
  });

  it('is not held by a store or a key file that hangs: the part is named, asked once, and well when it answers again', async () => {
    const waiting: (() => void)[] = [];
    const hang = () => new Promise<void>((resolve) => waiting.push(resolve));
    let nowMs = 0;
    const isReady = createReadiness({
      workflows: { isReachable: () => Promise.resolve(true) },
      store: { ping: hang },
      objects: { ...memoryObjects(), put: hang, get: () => Promise.resolve(new Uint8Array(1)) },
      readKeys: hang,
      now: () => nowMs,
      replica: 'one',
      deadlineMs: 20,
    });
    for (let probe = 0; probe < 3; probe += 1) {
      expect(await isReady()).toEqual({
        temporal: 'ok',
        database: 'unavailable',
        keys: 'unavailable',
        objects: 'unavailable',
      });
      nowMs += 20_000;
    }
    expect(waiting).toHaveLength(3);
    for (const answer of waiting) answer();
    await eventually(async () => {
      nowMs += 20_000;
      for (const answer of waiting) answer();
      const pending = isReady();
      for (const answer of waiting) answer();
      return JSON.stringify(await pending) === JSON.stringify(ok);
    });
  });
});
