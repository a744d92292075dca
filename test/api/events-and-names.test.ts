import { describe, expect, it } from 'vitest';

import { jobEvents, addedSince } from '../../services/jobs/events.ts';
import { viewJob } from '../../views/job.ts';
import { eventually } from '../support/eventually.ts';
import { createTestApi, linesOf, type TestApi } from './support.ts';

const eventsOf = async (api: TestApi, number: number) => linesOf(await api.call('GET', `/v1/jobs/${number}/events`));

describe('the events of a job', () => {
  it('say who submitted it and how it ended, since a time, to its workspace only', async () => {
    const api = await createTestApi();
    const number = await api.submit({ command: ['echo', 'hi'] });
    expect(await eventsOf(api, number)).toEqual([
      { at: expect.any(String), code: 'SUBMITTED', by: 'ada', text: 'submitted by ada: echo hi' },
    ]);
    await api.call('POST', `/v1/jobs/${number}/cancel`);
    expect(await eventsOf(api, number)).toMatchObject([
      { code: 'SUBMITTED' },
      { code: 'CANCELLED', text: 'Cancelled by ada.' },
    ]);
    const later = new Date(api.now() + 60_000).toISOString();
    expect(await (await api.call('GET', `/v1/jobs/${number}/events?since=${later}`)).text()).toBe('');
    const stranger = { token: await api.addToken('other') };
    expect((await api.call('GET', `/v1/jobs/${number}/events`, stranger)).status).toBe(404);
  });

  it('followed, come each once, through an outage, and end with the job', async () => {
    const api = await createTestApi();
    const number = await api.submit({});
    const response = await api.call('GET', `/v1/jobs/${number}/events?follow=true`);
    const lines = linesOf(response);
    api.workflows.control.isUnavailable = true;
    const asked = api.workflows.calls.length;
    await eventually(() => api.workflows.calls.length > asked);
    api.workflows.control.isUnavailable = false;
    await api.call('POST', `/v1/jobs/${number}/cancel`);
    expect((await lines).map(({ code }) => code)).toEqual(['SUBMITTED', 'CANCELLED']);
  });

  it('name tasks by their array ids, and are not repeated when the view no longer keeps them', async () => {
    const api = await createTestApi();
    const number = await api.submit({ array: '7-8' });
    const state = api.workflows.jobs.get(number);
    if (state === undefined) throw new Error('no job');
    state.startedAtMs = state.submittedAtMs + 1;
    state.recentErrors = [{ task: 1, attempt: 1, text: 'exit code 3', atMs: state.submittedAtMs + 2 }];
    const input = {
      number,
      workspace: 'default',
      name: '',
      admissionId: '',
      specRef: '',
      user: 'ada',
      deploymentId: '',
      privateToCreator: false,
    };
    const before = jobEvents(viewJob(state, input));
    expect(before.map(({ code, text }) => [code, text])).toEqual([
      ['SUBMITTED', 'submitted by ada: true'],
      ['STARTED', 'the first task has started'],
      ['TASK_FAILED', 'task 8, attempt 1: exit code 3'],
    ]);
    state.submittedAtMs -= 5;
    state.recentErrors = [{ task: 0, attempt: 1, text: 'exit code 3', atMs: state.submittedAtMs + 20 }];
    const now = jobEvents(viewJob(state, input));
    expect(addedSince(before, now).map(({ text }) => text)).toEqual(['task 7, attempt 1: exit code 3']);
    expect(addedSince([], now)).toEqual(now);
  });
});

describe('a name', () => {
  it('finds the one open job or cluster that has it, and none that has ended or is of another workspace', async () => {
    const api = await createTestApi();
    await api.submit({ name: 'other' });
    const job = await api.submit({ name: 'nightly' });
    const cluster = await api.startCluster({ name: 'blue' });
    const find = async (kind: string, name: string, options = {}) =>
      (await (await api.call('GET', `/v1/${kind}?name=${name}`, options)).json()).items.map(
        (item: { number: number }) => item.number,
      );
    expect(await find('jobs', 'nightly')).toEqual([job]);
    expect(await find('clusters', 'blue')).toEqual([cluster]);
    // The cluster of a job has the job's name and number.
    expect(await find('clusters', 'nightly')).toEqual([job]);
    expect(await find('jobs', 'blue')).toEqual([]);
    expect(await find('jobs', 'nightly', { token: await api.addToken('elsewhere') })).toEqual([]);
    expect((await api.call('GET', '/v1/jobs?name=a%20b')).status).toBe(422);
  });
});
