// The pages of schedules and of notifications: lists, links, actions, and what each role may see and do.
import { describe, expect, it } from 'vitest';

import { createTestApi } from '../api/support.ts';
import { notify } from '../../services/webhooks/notifications.ts';
import type { SchedulesPort } from '../../services/schedules/port.ts';
import { runSchedules } from '../../services/schedules/runs.ts';
import { eventually } from '../support/eventually.ts';
import { hasChromium } from './chromium.ts';
import { hostile, useWebApp } from './web-app.ts';

/** In the place of Temporal. */
const temporal: SchedulesPort & { isUnavailable: boolean } = {
  isUnavailable: false,
  put: async () => {
    if (temporal.isUnavailable) throw new Error('unavailable');
  },
  delete: async () => undefined,
  nextRuns: async () => [new Date('2030-01-01T03:00:00Z'), new Date('2030-01-02T03:00:00Z')],
};

describe.runIf(hasChromium)('schedules and notifications', () => {
  let boss: string;
  let ann: string;
  const app = useWebApp(async ({ bundle }) => {
    temporal.isUnavailable = false;
    const api = await createTestApi({ web: bundle, schedules: temporal });
    boss = await api.addToken('default', ['read', 'write', 'admin'], 'boss', 'admin');
    ann = await api.addToken('default', ['read', 'write'], 'ann', 'member');
    return api;
  });
  const { complaints, openAs, accessible } = app;
  const button = (name: string | RegExp) => app.page.getByRole('button', { name, exact: true });
  const row = (text: string) => app.page.getByRole('row').filter({ hasText: text });
  const buttons = () => app.page.locator('main button').allTextContents();
  const create = async (name: string, job: object = { command: ['true'] }) => {
    const body = { name, cron: '0 3 * * *', timezone: 'Europe/Berlin', job };
    const answer = await app.api.call('POST', '/v1/schedules', { token: ann, body });
    expect(answer.status).toBe(201);
  };
  const stateOf = async (name: string) => {
    const answer = await app.api.call('GET', `/v1/schedules/${name}`, { token: ann });
    return answer.ok ? (await answer.json()).state : answer.status;
  };

  it('lists schedules; their creator triggers, pauses, resumes and deletes them', async () => {
    await openAs(ann, '/schedules');
    await app.page.getByText('No schedule is here.').waitFor();
    await create('nightly', { command: ['echo', hostile] });
    await create('weekly.report');
    await app.page.getByRole('link', { name: 'nightly' }).waitFor();
    await accessible('schedules');
    await button('Trigger nightly').click();
    await button('No').click();
    await button('Pause nightly').click();
    await button('Yes, pause').click();
    await row('nightly').getByText('paused', { exact: true }).waitFor();
    await app.page.getByRole('link', { name: 'nightly' }).click();
    await app.page.getByText('No run is due: it is paused.').waitFor();
    await app.page.getByText('It has not run yet.').waitFor();
    await button('Trigger').click();
    await button('Yes, trigger').click();
    await row('due').waitFor();
    await runSchedules(app.api.deps);
    await row('started').waitFor();
    await app.api.store.schedules.addRun({ ...(await ofName('nightly')), run: 'second', atMs: app.api.now() });
    await runSchedules(app.api.deps);
    await row('of an earlier run has not ended.').getByText('skipped').waitFor();
    await button('Resume').click();
    await button('Yes, resume').click();
    const next = app.page.getByRole('list', { name: 'Next runs' }).getByRole('listitem');
    await eventually(async () => (await next.count()) === 2);
    await accessible('schedule');
    expect(await app.page.locator('main img, main script').count()).toBe(0);
    await row('started').getByRole('link').click();
    // The job links back to its schedule.
    await app.page.getByRole('link', { name: 'nightly', exact: true }).click();
    await button('Delete').click();
    await button('Yes, delete').click();
    await app.page.getByRole('heading', { name: 'Schedules' }).waitFor();
    await app.page.getByRole('link', { name: 'weekly.report' }).waitFor();
    expect(await app.page.getByRole('link', { name: 'nightly' }).count()).toBe(0);
    expect(await stateOf('nightly')).toBe(404);
    await app.page.goto('/schedules/weekly.report');
    await app.page.getByRole('heading', { name: 'weekly.report' }).waitFor();
    expect(complaints).toEqual([]);
  });

  const ofName = async (name: string): Promise<{ schedule: string }> => {
    const found = await app.api.store.schedules.find('default', name);
    return { schedule: found?.id ?? '' };
  };

  it('shows each role the actions that the API allows it, and why a schedule stopped or a change waits', async () => {
    await create('nightly');
    await openAs(ann, '/schedules');
    await row('nightly').waitFor();
    expect(await buttons()).toEqual(['Trigger', 'Pause', 'Delete']);
    await openAs(boss, '/schedules/nightly');
    await app.page.getByText('It has not run yet.').waitFor();
    expect(await buttons()).toEqual(['Pause', 'Delete']);
    const bob = await app.api.addToken('default', ['read', 'write'], 'bob', 'member');
    const reader = await app.api.addToken('default', ['read'], 'ann', 'member');
    for (const token of [bob, reader]) {
      for (const path of ['/schedules', '/schedules/nightly']) {
        await openAs(token, path);
        await app.page.getByText('0 3 * * *').waitFor();
        expect([path, await buttons()]).toEqual([path, []]);
      }
    }
    temporal.isUnavailable = true;
    await openAs(ann, '/schedules/nightly');
    await button('Pause').click();
    await button('Yes, pause').click();
    await app.page.getByText('the change takes effect when it is available again').waitFor();
    await app.api.store.schedules.change((await ofName('nightly')).schedule, { stopped: hostile });
    await app.page.getByText(hostile).waitFor();
    expect(await buttons()).toEqual(['Trigger', 'Resume', 'Delete']);
    await app.page.goto('/schedules/unknown');
    await app.page.getByRole('alert').getByText('There is no schedule named unknown').waitFor();
    expect(complaints.filter((text) => !text.includes('status of 404'))).toEqual([]);
  });

  it('lists notifications by type, with links to their objects, page by page', async () => {
    const say = (type: 'job.failed' | 'budget.warning' | 'schedule.stopped' | 'webhook.test', object: string) => {
      const data = type === 'schedule.stopped' ? { schedule: 'nightly' } : {};
      return notify(app.api.deps, { workspace: 'default', type, object, text: `${object} ${hostile}`, data });
    };
    const reader = await app.api.addToken('default', ['read'], 'reader', 'read-only');
    await openAs(reader, '/notifications');
    await app.page.getByText('There was no notification in the last 30 days.').waitFor();
    const job = await app.api.submit({ name: 'train' });
    await say('job.failed', `job/${job}`);
    await say('budget.warning', 'budget/team');
    await say('schedule.stopped', 'schedule/sch_1');
    await say('webhook.test', 'webhook/wh_1');
    await row('webhook.test').waitFor();
    await accessible('notifications');
    expect(await app.page.locator('main img, main script').count()).toBe(0);
    expect(await buttons()).toEqual([]);
    const links = app.page.getByRole('table').getByRole('link');
    expect(await links.allTextContents()).toEqual(['schedule nightly', 'budget team', `job ${job}`]);
    await app.page.getByLabel('Type').selectOption('job.*');
    await eventually(async () => (await links.count()) === 1);
    expect(await links.allTextContents()).toEqual([`job ${job}`]);
    expect(new URL(app.page.url()).search).toBe('?event=job.*');
    await links.click();
    await app.page.getByRole('heading', { name: 'train' }).waitFor();
    await app.page.goBack();
    await row('job.failed').waitFor();
    expect(await app.page.getByLabel('Type').inputValue()).toBe('job.*');
    await app.page.getByLabel('Type').selectOption('approval.expired');
    await app.page.getByText('There was no notification of this type').waitFor();
    for (let count = 0; count < 200; count += 1) await say('job.failed', 'job/77');
    await app.page.getByRole('link', { name: 'Notifications' }).click();
    await button('Show more').click();
    await eventually(async () => (await links.count()) === 203);
    await app.page.getByRole('main').getByRole('link', { name: 'Workspace' }).click();
    await app.page.getByRole('heading', { name: 'Webhooks' }).waitFor();
    expect(complaints).toEqual([]);
  });
});
