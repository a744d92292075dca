// The time of a refused token reveals nothing: an unknown id and a wrong secret of a known one take the same steps. By
// construction, since no test can measure microseconds on a busy machine; `npm run bench -- denials` measures.
import { afterEach, describe, expect, it, vi } from 'vitest';

import { verifyToken } from '../../services/auth/verify-token.ts';
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
    const api = await createTestApi();
    const { tokenCache, store } = api.deps;
    const findToken = store.people.findToken.bind(store.people);
    store.people.findToken = (workspace, id) => {
      steps.taken.push(`read a token of ${workspace}`);
      return findToken(workspace, id);
    };
    const stepsOf = async (token: string) => {
      steps.taken.splice(0);
      tokenCache.expire();
      const asked: string[] = [];
      for (let n = 0; n < 2; n += 1) {
        asked.push(
          await verifyToken(api.deps, token).then(
            () => 'accepted',
            (error: Error) => error.message,
          ),
        );
      }
      return { asked, taken: [...steps.taken] };
    };
    const wrongSecret = `${api.token.slice(0, -43)}${'A'.repeat(43)}`;
    const unknownId = wrongSecret.replace(/_tok\d{9}-/, '_zzzzzzzzzzzz-');
    expect(unknownId).not.toBe(wrongSecret);
    const known = await stepsOf(wrongSecret);
    expect(known.asked[0]).toContain('missing, unknown, revoked or expired');
    expect(known.taken.filter((step) => step === 'compare 32 bytes')).toHaveLength(2);
    expect(known.taken.filter((step) => step.startsWith('read'))).toHaveLength(1);
    expect(await stepsOf(unknownId)).toEqual(known);
    const { asked, taken } = await stepsOf(unknownId.replace('rw_default_', 'rw_nowhere_'));
    expect({ asked, taken: taken.map((step) => step.replace('of nowhere', 'of default')) }).toEqual(known);
    expect((await stepsOf(api.token)).asked).toEqual(['accepted', 'accepted']);
  });
});

describe("another workspace's number", () => {
  it.each(['jobs', 'clusters'] as const)('is looked up like one that does not exist: %s', async (kind) => {
    const api = await createTestApi();
    const foreign = await api.addToken('other');
    const number = await (kind === 'jobs' ? api.submit({}) : api.startCluster());
    // Users of its own workspace read it all the time.
    expect((await api.call('GET', `/v1/${kind}/${number}`)).status).toBe(200);
    const { store } = api.deps;
    const asked: string[] = [];
    const { jobs, clusters } = store;
    const [findJob, findCluster] = [jobs.find.bind(jobs), clusters.find.bind(clusters)];
    jobs.find = (workspace, which) => (asked.push(`jobs of ${workspace}`), findJob(workspace, which));
    clusters.find = (workspace, which) => (asked.push(`clusters of ${workspace}`), findCluster(workspace, which));
    const lookUp = async (which: number) => {
      asked.splice(0);
      const before = api.workflows.calls.length;
      const { status } = await api.call('GET', `/v1/${kind}/${which}`, { token: foreign });
      return { status, asked: [...asked], ofTemporal: api.workflows.calls.slice(before) };
    };
    const none = await lookUp(424_242);
    expect(none).toEqual({ status: 404, asked: expect.arrayContaining([`${kind} of other`]), ofTemporal: [] });
    expect(await lookUp(number)).toEqual(none);
  });
});
