// The explanation of a cluster's or job's state over HTTP: open, ended and private ones.
import { expect, it } from 'vitest';

import type { Why } from '../../schema/why.ts';
import { cloudApi } from './cloud.ts';
import { createTestApi, linesOf, type TestApi } from './support.ts';

async function whyOf(api: TestApi, path: string): Promise<Why> {
  const reply = await api.call('GET', `/v1/${path}/why`);
  expect(reply.status).toBe(200);
  return reply.json();
}
const texts = ({ sentences }: Why, about: string) =>
  sentences.flatMap((each) => (each.about === about ? [each.text] : []));

it('of a cluster on a cloud: its size by request, the quota and its instance types', async () => {
  const api = await cloudApi();
  const number = await api.startCluster({ workers: 2, workerCpu: 4, schedulerVmTypes: ['m5.large'] });
  const why = await whyOf(api, `clusters/${number}`);
  expect(why).toMatchObject({ number, staleSince: null });
  expect(texts(why, 'size')[0]).toContain('The cluster was asked for 2 workers when it was created');
  expect(texts(why, 'size').join()).toMatch(/The quota allows \d+ more instances: the workspace has reserved/);
  expect(texts(why, 'instanceType')[0]).toContain('The head instance: m5.large (2 vCPU, 8.00 GiB');
  expect(texts(why, 'instanceType')[1]).toMatch(/^Workers: .* is the cheapest of \d+ types that fit\. Next would be: /);
});

it('of a cluster that was stopped: who asked for it, and no size any more', async () => {
  const api = await createTestApi();
  const number = await api.startCluster({ workers: 1 });
  await api.call('POST', `/v1/clusters/${number}/stop`);
  const why = await whyOf(api, `clusters/${number}`);
  expect(texts(why, 'end')[0]).toMatch(/: Stopped by \w+\.$/);
  expect(texts(why, 'size')).toEqual([]);
  expect(why.sentences[0]?.facts[0]).toMatchObject({ name: 'event STOPPED', at: expect.any(String), events: [2] });
  const events = await linesOf(await api.call('GET', `/v1/clusters/${number}/events`));
  expect(events.find(({ seq }) => seq === 2)).toMatchObject({ code: 'STOPPED' });
});

it('of a job, before and after it was cancelled, and of its cluster', async () => {
  const api = await createTestApi({ cores: 4 });
  const number = await api.submit({ ntasks: 20, maxWorkers: 2 });
  const why = await whyOf(api, `jobs/${number}`);
  expect(texts(why, 'state')[0]).toContain('No task has started since the job was submitted at');
  expect(texts(why, 'size')[0]).toContain('The job has 2 instances, fewer than its 20 tasks');
  expect(texts(why, 'instanceType')).toHaveLength(1);
  expect((await whyOf(api, `clusters/${number}`)).number).toBe(number);
  await api.call('POST', `/v1/jobs/${number}/cancel`);
  expect(texts(await whyOf(api, `jobs/${number}`), 'end')[0]).toMatch(/: Cancelled by \w+\.$/);
});

it('is its creator’s alone of a private one', async () => {
  const api = await createTestApi();
  const zoe = await api.addToken('default', ['read', 'write'], 'zoe', 'member');
  const cluster = await api.startCluster({ privateToCreator: true });
  const job = await api.submit({ privateToCreator: true });
  for (const path of [`clusters/${cluster}`, `jobs/${job}`]) {
    expect((await api.call('GET', `/v1/${path}/why`, { token: zoe })).status).toBe(403);
    expect((await api.call('GET', `/v1/${path}/why`)).status).toBe(200);
  }
});

it('says of a job without a task that has started how many of its instances have registered', async () => {
  const api = await createTestApi();
  const number = await api.submit({ ntasks: 3 });
  const text = '0 of 3 instances have registered.';
  const job = await (await api.call('GET', `/v1/jobs/${number}`)).json();
  expect(job).toMatchObject({ status: 'pending', reason: { code: 'WAITING_FOR_INSTANCES', text } });
});
