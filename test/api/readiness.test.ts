// /readyz names the part that is not well.
import { describe, expect, it } from 'vitest';

import type { Objects } from '../../platform/objects/objects.ts';
import { memoryObjects } from '../platform/support.ts';
import { createTestApi } from './support.ts';

const ok = { temporal: 'ok', keys: 'ok', objects: 'ok' };
const refuse = () => Promise.reject(new Error('disk full'));

describe('readyz', () => {
  const ask = async (api: ReturnType<typeof createTestApi>) => {
    const response = await api.call('GET', '/readyz', { token: null });
    return { code: response.status, ...(await response.json()) };
  };

  it('says that all is well, and leaves nothing in the store', async () => {
    const objects = memoryObjects();
    expect(await ask(createTestApi({ objects }))).toEqual({ code: 200, status: 'ok', parts: ok });
    expect(await objects.list('ready/', { limit: 10 })).toEqual([]);
  });

  it('says which part is not: Temporal, the keys, or a store that takes or gives nothing', async () => {
    const api = createTestApi();
    api.workflows.control.isAway = true;
    expect((await ask(api)).parts).toEqual({ ...ok, temporal: 'unavailable' });
    expect((await ask(createTestApi({ readKeys: refuse }))).parts).toEqual({ ...ok, keys: 'unavailable' });
    const full: Objects = { ...memoryObjects(), put: refuse };
    const lossy: Objects = { ...memoryObjects(), get: () => Promise.resolve(null) };
    for (const objects of [full, lossy]) {
      expect((await ask(createTestApi({ objects }))).parts).toEqual({ ...ok, objects: 'unavailable' });
    }
  });
});
