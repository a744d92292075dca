// What is read of jobs and clusters while they begin and end between one look and the next.
import { describe, expect, it } from 'vitest';

import { archiveKey } from '../../platform/archive-keys.ts';
import { createTestApi, endJob, json } from './support.ts';

describe('a job that has begun and ended since it was last looked at', () => {
  it.each([
    ['is found where the workspace was looked at before', false],
    ['is found where the workspace is looked at anew', true],
  ])('%s', async (_, isAnew) => {
    const api = createTestApi();
    const { number } = await (await api.call('POST', '/v1/jobs', { body: { command: ['true'] } })).json();
    expect(await (await api.call('GET', `/v1/jobs/${number}`)).json()).toMatchObject({ status: 'pending' });
    await api.workflows.startHolder('default', number);
    const view = endJob(api, number);
    api.workflows.forget(`job/${number}`);
    // Archived first, released after.
    await api.objects.put(archiveKey('default', 'jobs', number), json(view));
    api.workflows.workspaces.get('default')?.holders.splice(0);
    if (isAnew) await api.call('POST', '/v1/jobs', { body: { command: ['true'] } });
    expect(await (await api.call('GET', `/v1/jobs/${number}`)).json()).toMatchObject({ number, status: 'done' });
  });
});
