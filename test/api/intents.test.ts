// What people end while Temporal is away is written down, survives the API, and is told once Temporal is back.
import { describe, expect, it, vi } from 'vitest';

import { deliverIntents } from '../../services/intents/intents.ts';
import { createKeptWorkspaces } from '../../services/kept-workspaces.ts';
import { createViews } from '../../services/views.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { createVault } from '../../platform/vault/vault.ts';
import { memoryObjects, testKeys } from '../platform/support.ts';
import { pino } from 'pino';
import { createTestApi, type TestApi } from './support.ts';

const logger = pino({ level: 'silent' });
const partsOf = ({ workflows, objects, now }: TestApi) => ({ workflows: workflows.port, objects, now });
/** As another process would: nothing is shared with the API but Temporal and the object store. */
const deliver = (api: TestApi) => deliverIntents({ ...partsOf(api), logger, views: createViews(partsOf(api)) });

/** One that keeps what it knows of workspaces, and another process's way to that. */
function apiWithKept() {
  const vault = createVault(memoryObjects(), testKeys(), Date.now);
  const kept = () => createKeptWorkspaces({ vault, logger });
  return { api: createTestApi({ kept: kept() }), kept: kept() };
}
const intents = (api: TestApi) => api.objects.list('intents/', { limit: 10 });

describe('while Temporal is away', () => {
  it.each(['seen lately', 'never seen'])('a job that this replica has %s is cancelled later', async (what) => {
    const api = createTestApi();
    const number = await api.submit({});
    if (what === 'seen lately') await api.call('GET', `/v1/jobs/${number}`);
    else await api.call('GET', '/v1/whoami');
    api.clock.offsetMs += 3_600_000;
    await api.call('GET', '/v1/jobs');
    api.clock.offsetMs += 3_600_000;
    api.workflows.control.isAway = true;
    for (let n = 0; n < 2; n += 1) {
      const answer = await api.call('POST', `/v1/jobs/${number}/cancel`);
      expect(answer.status).toBe(202);
      expect(await answer.json()).toMatchObject({ number, acceptedForLater: true, staleSince: expect.any(String) });
    }
    expect(await deliver(api)).toEqual({ left: 1 });
    expect(api.workflows.jobs.get(number)?.cancelRequested ?? null).toBe(null);
    api.workflows.control.isAway = false;
    expect(await deliver(api)).toEqual({ left: 0 });
    expect(await intents(api)).toEqual([]);
    expect(api.workflows.jobs.get(number)?.cancelRequested).toMatchObject({ code: 'CANCELLED', by: 'ada' });
    expect(await deliver(api)).toEqual({ left: 0 });
  });

  it('a cluster is stopped later; one whose workflow is still to be started keeps its intent, one that is over loses it', async () => {
    const api = createTestApi();
    const running = await api.startCluster();
    const body = await (await api.call('POST', '/v1/clusters', { body: { name: 'young' } })).json();
    const over = await api.startCluster();
    for (const number of [running, body.number, over]) await api.call('GET', `/v1/clusters/${number}`);
    api.workflows.control.isAway = true;
    for (const number of [running, body.number, over]) {
      expect((await api.call('POST', `/v1/clusters/${number}/stop`)).status).toBe(202);
    }
    api.workflows.control.isAway = false;
    api.workflows.end(`cluster/${over}`, { failed: 'terminated' });
    expect(await deliver(api)).toEqual({ left: 1 });
    expect(api.workflows.clusters.get(running)?.stopRequested).toMatchObject({ by: 'ada' });
    await api.workflows.startHolder('default', body.number);
    expect(await deliver(api)).toEqual({ left: 0 });
    expect(api.workflows.clusters.get(body.number)?.stopRequested).toMatchObject({ code: 'STOPPED' });
  });

  describe('a job that was just admitted is cancelled later, though workers come back after Temporal', () => {
    it.each([
      ['by a replica that has seen the workspace before', true],
      ['by one that knows it from what was kept', false],
    ])('%s', async (_what, hasSeen) => {
      const { api, kept } = apiWithKept();
      const views = createViews({ ...partsOf(api), kept });
      if (hasSeen) await views.workspace('default', 0);
      else await api.call('GET', '/v1/whoami');
      const created = await (await api.call('POST', '/v1/jobs', { body: { command: ['true'] } })).json();
      await api.call('GET', `/v1/jobs/${created.number}`);
      api.workflows.control.isAway = true;
      expect((await api.call('POST', `/v1/jobs/${created.number}/cancel`)).status).toBe(202);
      api.workflows.control.isAway = false;

      const deliverWith = () => deliverIntents({ ...partsOf(api), logger, views });
      const noWorker = new RopewalkError({ code: 'UNAVAILABLE', message: 'no worker' });
      const query = vi.spyOn(api.workflows.port, 'query').mockRejectedValue(noWorker);
      expect(await deliverWith()).toEqual({ left: 1 });
      query.mockRestore();
      await api.workflows.startHolder('default', created.number);
      expect(await deliverWith()).toEqual({ left: 0 });
      expect(api.workflows.jobs.get(created.number)?.cancelRequested).toMatchObject({ code: 'CANCELLED', by: 'ada' });
    });
  });

  it('of a workspace that is closed nothing is told, and nothing stays', async () => {
    const api = createTestApi();
    const created = await (await api.call('POST', '/v1/jobs', { body: { command: ['true'] } })).json();
    await api.call('GET', `/v1/jobs/${created.number}`);
    api.workflows.control.isAway = true;
    expect((await api.call('POST', `/v1/jobs/${created.number}/cancel`)).status).toBe(202);
    api.workflows.control.isAway = false;
    api.workflows.end('workspace/default', { failed: 'terminated' });
    expect(await deliver(api)).toEqual({ left: 0 });
    expect(await intents(api)).toEqual([]);
  });

  it('one intent that cannot be read keeps none of the others waiting', async () => {
    const api = createTestApi();
    const number = await api.submit({});
    await api.call('GET', `/v1/jobs/${number}`);
    api.workflows.control.isAway = true;
    expect((await api.call('POST', `/v1/jobs/${number}/cancel`)).status).toBe(202);
    await api.objects.put('intents/a.json', Buffer.from('{"kind":"of a later version"}'));
    api.workflows.control.isAway = false;
    expect(await deliver(api)).toEqual({ left: 1 });
    expect(api.workflows.jobs.get(number)?.cancelRequested).toMatchObject({ code: 'CANCELLED' });
  });

  it('nobody ends what is not theirs, and creates wait', async () => {
    const api = createTestApi();
    const number = await api.submit({ privateToCreator: true });
    const zoe = api.addToken('default', ['read', 'write'], 'zoe', 'member');
    const stranger = api.addToken('other');
    api.clock.offsetMs += 5_000;
    for (const token of [zoe, stranger]) await api.call('GET', '/v1/jobs', { token });
    api.workflows.control.isAway = true;
    expect((await api.call('POST', `/v1/jobs/${number}/cancel`, { token: zoe })).status).toBe(403);
    expect((await api.call('POST', `/v1/jobs/${number}/cancel`, { token: stranger })).status).toBe(404);
    const create = await api.call('POST', '/v1/clusters', { body: {} });
    expect([create.status, create.headers.get('retry-after')]).toEqual([503, '1']);
    expect(await intents(api)).toEqual([]);
  });
});
