// Forms that must not send what their user does not mean, and what a page says of amounts and changes.
import { describe, expect, it } from 'vitest';

import { createTestApi } from '../api/support.ts';
import { eventually } from '../support/eventually.ts';
import { hasChromium } from './chromium.ts';
import { useWebApp } from './web-app.ts';

describe.runIf(hasChromium)('forms', () => {
  let boss: string;
  const app = useWebApp(async ({ bundle }) => {
    const api = await createTestApi({ web: bundle });
    boss = await api.addToken('default', ['read', 'write', 'admin'], 'boss', 'admin');
    return api;
  });
  const { complaints, openAs, accessible } = app;
  const button = (name: string) => app.page.getByRole('button', { name, exact: true });

  it('ask before a name of an environment gets another content', async () => {
    const put = (container: string) =>
      app.api.call('PUT', '/v1/environments/weather', { token: boss, body: { container } });
    const summary = async () =>
      (await (await app.api.call('GET', '/v1/environments/weather', { token: boss })).json()).summary;
    await openAs(boss, '/workspace');
    await button('Name an environment').click();
    const form = app.page.getByRole('form', { name: 'Name an environment' });
    const field = (label: string) => form.getByLabel(label, { exact: true });
    // Made by another user after the page was read.
    await put('first:1');
    await field('Name').fill('weather');
    await field('Or a container image').fill('second:2');
    await button('Save').click();
    await form.getByRole('alert').getByText('The name weather exists, with first:1 by boss.').waitFor();
    await button('Replace weather').waitFor();
    expect(await summary()).toBe('first:1');
    await accessible('environment-exists');
    // The question was about another content.
    await put('third:3');
    await button('Replace weather').click();
    await form.getByRole('alert').getByText('with third:3 by boss.').waitFor();
    await field('Name').fill('other');
    await button('Save').click();
    await form.waitFor({ state: 'detached' });
    await app.page.getByRole('cell', { name: 'other', exact: true }).waitFor();
    expect(await summary()).toBe('third:3');
    await button('Name an environment').click();
    await field('Name').fill('weather');
    await field('Or a container image').fill('second:2');
    await button('Save').click();
    await button('Replace weather').click();
    await form.waitFor({ state: 'detached' });
    expect(await summary()).toBe('second:2');
    expect(complaints).toEqual([]);
  });

  it('take only a number for the cluster of a budget', async () => {
    await openAs(boss, '/spend');
    await button('Make a budget').click();
    const form = app.page.getByRole('form', { name: 'Make a budget' });
    await form.getByLabel('Name').fill('team');
    await form.getByLabel('Dollars').fill('5');
    for (const kind of ['cluster', 'job']) {
      await form.getByRole('combobox', { name: 'Of', exact: true }).selectOption(kind);
      const subject = form.getByLabel(`Number of the ${kind}`);
      await subject.pressSequentially('abc');
      await form.getByRole('button', { name: 'Make' }).click();
      await eventually(() => subject.evaluate((input) => input.matches(':invalid')));
    }
    // The browser has refused both.
    expect(await form.getByRole('alert').count()).toBe(0);
    expect((await (await app.api.call('GET', '/v1/budgets', { token: boss })).json()).items).toEqual([]);
    expect(complaints).toEqual([]);
  });

  it('are followed by sentences in the list of changes', async () => {
    const send = (path: string, body: object) => app.api.call('PUT', path, { token: boss, body });
    await send('/v1/workspace/limits', { vcpus: 64, perUser: { instances: 1 } });
    await send('/v1/users/ann', { role: 'member', limits: { running: 2 } });
    await openAs(boss, '/workspace');
    const changes = app.page.getByRole('table', { name: 'Changes of people' });
    await changes.getByText('64 vCPUs; each user at most 1 instance').waitFor();
    await changes.getByText('ann: member, at most 2 open jobs and clusters').waitFor();
    expect(await changes.textContent()).not.toMatch(/[{}"]/);
  });

  it('of the page of spend show no chart of days on which nothing was spent', async () => {
    const line = { dollars: 0, instanceHours: 1, instances: 1, dollarsPerHour: 0 };
    const times = { since: '2026-11-01T00:00:00.000Z', until: '2026-11-24T00:00:00.000Z' };
    const shown = { dollars: 0 };
    await app.page.route('**/v1/costs?*', (route) => {
      const total = { ...line, ...shown };
      const items = [{ ...total, key: '2026-11-23', name: null }];
      return route.fulfill({ json: { by: 'day', ...times, total, items, priceSources: [] } });
    });
    await openAs(boss, '/spend?by=day');
    await app.page.getByRole('cell', { name: '2026-11-23' }).waitFor();
    expect(await app.page.locator('.chart').count()).toBe(0);
    shown.dollars = 0.004;
    await app.page.reload();
    await app.page.getByRole('img', { name: 'Cost by day: 2026-11-23 <$0.01' }).waitFor();
  });
});
