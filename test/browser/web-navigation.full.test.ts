// Navigation through the pages in a real browser: filters stay on the way back, an ended sign-in leads to the sign-in page and
// back, and a page that was opened while the API was unavailable loads later.
import { readFile } from 'node:fs/promises';

import { describe, expect, it } from 'vitest';

import { createTestApi } from '../api/support.ts';
import { eventually } from '../support/eventually.ts';
import { hasChromium } from './chromium.ts';
import { useWebApp } from './web-app.ts';

describe.runIf(hasChromium)('ways through the pages', () => {
  const app = useWebApp(({ bundle }) => createTestApi({ web: bundle }));
  const { complaints, signIn, accessible, listen, close } = app;
  const query = () => new URL(app.page.url()).search;
  const job = (name: string) => app.page.getByRole('link', { name, exact: true });

  it('a search and its filters are in the address: they stay on the way back and after a reload', async () => {
    for (const name of ['train-a', 'train-b', 'test']) await app.api.submit({ name, command: ['true'] });
    await signIn();
    await app.page.getByRole('link', { name: 'Jobs' }).click();
    await job('test').waitFor();
    await app.page.getByLabel('Search').fill('train');
    await app.page.getByLabel('only open').check();
    // The list is empty for a moment after each of the two: only the address says that both have taken effect.
    await eventually(() => query() === '?q=train&open=true');
    await job('test').waitFor({ state: 'detached' });
    await job('train-a').click();
    await app.page.getByRole('heading', { name: 'train-a' }).waitFor();
    await app.page.goBack();
    await job('train-b').waitFor();
    expect(await app.page.getByLabel('Search').inputValue()).toBe('train');
    expect(await app.page.getByLabel('only open').isChecked()).toBe(true);
    expect(await job('test').count()).toBe(0);
    await app.page.reload();
    await job('train-b').waitFor();
    expect(await app.page.getByLabel('Search').inputValue()).toBe('train');
    await app.page.getByLabel('Search').fill('nowhere');
    await app.page.getByText('No job is as the search and the filters ask.').waitFor();
    await accessible('jobs-nothing-found');
    // The link of the navigation opens the complete list.
    await app.page.getByRole('link', { name: 'Jobs' }).click();
    await job('test').waitFor();
    expect(await app.page.getByLabel('Search').inputValue()).toBe('');
    expect(query()).toBe('');
    expect(complaints).toEqual([]);
  });

  it('a token that ends while a list is open leads to the sign-in page, says why, and goes on at the same address', async () => {
    await app.api.submit({ name: 'train', command: ['true'] });
    const token = await app.api.addToken('default', ['read'], 'eve', 'read-only');
    await signIn(token);
    await app.page.goto('/jobs?q=tra');
    await job('train').waitFor();
    await app.api.revoke(token);
    await app.page.getByRole('alert').getByText('Your sign-in has ended').waitFor();
    await accessible('sign-in-ended');
    expect(await app.page.evaluate(() => sessionStorage.length + localStorage.length)).toBe(0);
    await app.page.getByLabel('One of your API tokens').fill(app.api.token);
    await app.page.getByRole('button', { name: 'Sign in' }).click();
    await job('train').waitFor();
    expect(new URL(app.page.url()).pathname + query()).toBe('/jobs?q=tra');
  });

  it('the page of spend reads again when the API was away, and keeps its choices in the address', async () => {
    await signIn();
    await app.page.goto('/spend?by=day&since=7+days');
    await app.page.getByText('No instance has run in this time.').waitFor();
    await accessible('spend-empty');
    expect(await app.page.getByLabel('Of the last').inputValue()).toBe('7 days');
    await close();
    await app.page.getByLabel('Of the last').selectOption('90 days');
    await app.page.getByRole('alert').getByText('The API cannot be reached.').waitFor();
    expect(query()).toBe('?by=day&since=90+days');
    await listen();
    await app.page.getByRole('alert').waitFor({ state: 'detached' });
    expect(complaints.filter((text) => !text.includes('ERR_CONNECTION_REFUSED'))).toEqual([]);
  });

  it('shows the spend of 10,000 clusters, 200 at a time, and downloads all of it as CSV', async () => {
    const line = { dollars: 1, instanceHours: 1, instances: 1, dollarsPerHour: 0 };
    const items = Array.from({ length: 10_000 }, (_, at) => ({ ...line, key: String(10_000 - at), name: `=c${at}` }));
    const times = { since: '2026-11-01T00:00:00.000Z', until: '2026-11-24T00:00:00.000Z' };
    await signIn();
    await app.page.route('**/v1/costs?*', (route) =>
      route.fulfill({
        json: {
          ...{ by: 'cluster', ...times, total: line, priceSources: [] },
          items: route.request().url().includes('by=cluster') ? items : [],
        },
      }),
    );
    await app.page.goto('/spend?by=cluster');
    const rows = app.page.getByRole('table', { name: 'Spend by cluster' }).getByRole('row');
    await eventually(async () => (await rows.count()) === 201);
    await app.page.getByRole('button', { name: 'Show more' }).click();
    await eventually(async () => (await rows.count()) === 401);
    const [download] = await Promise.all([
      app.page.waitForEvent('download'),
      app.page.getByRole('button', { name: 'Download CSV' }).click(),
    ]);
    expect(download.suggestedFilename()).toBe('ropewalk-cost-by-cluster-2026-11-01-to-2026-11-24.csv');
    const lines = (await readFile(await download.path(), 'utf8')).split('\n');
    expect(lines.length).toBe(10_002);
    expect(lines.slice(0, 3)).toEqual([
      'cluster,name,instances,instance_hours,dollars,dollars_per_hour_now',
      "10000,'=c0,1,1,1,0",
      "9999,'=c1,1,1,1,0",
    ]);
    expect(complaints).toEqual([]);
  });
});
