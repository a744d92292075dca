// What a refused token costs tells nothing: an unknown id and a wrong secret of a known one are the same work, step by step.
// By construction, since no test can tell microseconds on a busy machine; `npm run bench -- denials` measures.
import { afterEach, describe, expect, it, vi } from 'vitest';

import { verifyToken } from '../../services/auth/verify-token.ts';
import { createViews, type Views } from '../../services/views.ts';
import { createTestApi } from '../api/support.ts';

const steps = vi.hoisted(() => ({ taken: [] as string[] }));
vi.mock('node:crypto', async (original) => {
  const real = await original<typeof import('node:crypto')>();
  return {
    ...real,
    createHash: (algorithm: string) => {
      steps.taken.push(`hash ${algorithm}`);
      return real.createHash(algorithm);
    },
    timingSafeEqual: (a: Uint8Array, b: Uint8Array) => {
      steps.taken.push(`compare ${a.byteLength} bytes`);
      return real.timingSafeEqual(a, b);
    },
  };
});

afterEach(() => void steps.taken.splice(0));

describe('a refused token', () => {
  it('takes the same steps, whether its id is known or not', async () => {
    const api = createTestApi();
    const views = createViews({ workflows: api.workflows.port, objects: api.objects, now: api.now });
    const state = api.workflows.workspaces.get('default');
    const workspace: Views['workspace'] = async (slug, maxAgeMs) => {
      steps.taken.push(`look at ${slug}, at most ${maxAgeMs} ms old`);
      const known = slug === 'default' && state !== undefined;
      return { value: known ? { ...state } : null, readAtMs: api.now(), isStale: false };
    };
    const stepsOf = async (token: string) => {
      steps.taken.splice(0);
      const verified = verifyToken({ views: { ...views, workspace }, now: api.now }, token);
      const refused = await verified.then(
        () => 'let in',
        (error: Error) => error.message,
      );
      return { refused, taken: [...steps.taken] };
    };
    const wrongSecret = `${api.token.slice(0, -43)}${'A'.repeat(43)}`;
    const unknownId = wrongSecret.replace(/_tok\d{9}-/, '_zzzzzzzzzzzz-');
    expect(unknownId).not.toBe(wrongSecret);
    const known = await stepsOf(wrongSecret);
    expect(known.refused).toContain('missing, unknown, revoked or expired');
    expect(known.taken.filter((step) => step === 'compare 32 bytes')).toHaveLength(2);
    expect(await stepsOf(unknownId)).toEqual(known);
    expect((await stepsOf(api.token)).refused).toBe('let in');
  });
});

describe("another workspace's number", () => {
  it.each(['jobs', 'clusters'] as const)('is looked up as one that is not there: %s', async (kind) => {
    const api = createTestApi();
    const foreign = api.addToken('other');
    const number = await (kind === 'jobs' ? api.submit({}) : api.startCluster());
    // Its own people look at it all the time.
    expect((await api.call('GET', `/v1/${kind}/${number}`)).status).toBe(200);
    const { port } = api.workflows;
    const query = port.query.bind(port);
    const result = port.result.bind(port);
    const asked: string[] = [];
    port.query = (id, ...rest) => (asked.push(`query ${id}`), query(id, ...rest));
    port.result = (id) => (asked.push(`result ${id}`), result(id));
    const lookUp = async (which: number) => {
      asked.splice(0);
      api.clock.offsetMs += 10_000;
      const { status } = await api.call('GET', `/v1/${kind}/${which}`, { token: foreign });
      return { status, asked: [...asked] };
    };
    const none = await lookUp(424_242);
    expect(none).toEqual({ status: 404, asked: expect.arrayContaining(['query workspace/other']) });
    expect(await lookUp(number)).toEqual(none);
    expect(none.asked.filter((each) => !each.includes('workspace/other'))).toEqual([]);
  });
});
