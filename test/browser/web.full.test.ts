// The web application in a real browser: each page, each action, hostile texts, a read-only user, an API that restarts, and WCAG AA.
// The API is the real application; the workflows behind it are in memory. With ROPEWALK_SCREENSHOTS it writes pictures there.
import { gzipSync } from 'node:zlib';

import { describe, expect, it } from 'vitest';

import { addEvent } from '../../domain/cluster/notes.ts';
import { maxUnwrittenRecords } from '../../domain/job/limits.ts';
import { endTasks } from '../builders/end-tasks.ts';
import { archivePages } from '../api/archive-pages.ts';
import { createTestApi, launch } from '../api/support.ts';
import { eventually } from '../support/eventually.ts';
import { hasChromium } from './chromium.ts';
import { hostile, useWebApp } from './web-app.ts';

describe.runIf(hasChromium)('the web application', () => {
  const app = useWebApp(({ bundle }) => createTestApi({ web: bundle }));
  const { complaints, signIn, accessible, listen, close } = app;

  async function startCluster(name: string): Promise<number> {
    const number = await app.api.startCluster({ name, workers: 3 });
    for (let slot = 0; slot < 4; slot += 1) launch(app.api, number, `i_${name}_${slot}`, slot);
    return number;
  }

  it('is small, and sends nothing but its own files under a strict policy', async () => {
    expect(gzipSync(app.bundle.html + app.bundle.js + app.bundle.css).length).toBeLessThan(250_000);
    const answer = await app.page.goto('/clusters/7');
    const policy = (await answer?.allHeaders())?.['content-security-policy'] ?? '';
    expect(policy).toContain("script-src 'self'; style-src 'self'; connect-src 'self'");
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    await app.page.getByRole('heading', { name: 'Ropewalk' }).waitFor();
    await accessible('sign-in');
    expect(complaints).toEqual([]);
  });

  it('refuses a token that is not good, and keeps a good one for this tab alone unless asked', async () => {
    await app.page.goto('/');
    await app.page.getByLabel('One of your API tokens').fill('rw_default_aaaaaaaaaaaa-nonsense');
    await app.page.keyboard.press('Enter');
    const refusal = await app.page.getByRole('alert').textContent();
    expect(refusal).toContain('make a new one with: ropewalk token create');
    expect(refusal).not.toMatch(/Bearer|Authorization/);
    await signIn();
    expect(await app.page.evaluate(() => [localStorage.length, document.cookie])).toEqual([0, '']);
    await app.page.reload();
    await app.page.getByRole('heading', { name: 'Clusters' }).waitFor();
    await app.page.getByRole('button', { name: 'Sign out' }).click();
    await app.page.getByLabel('One of your API tokens').waitFor();
    expect(await app.page.evaluate(() => sessionStorage.length)).toBe(0);
  });

  it('says at a mistyped address that there is no such page, and leads to the lists', async () => {
    const open = async (path: string): Promise<void> => {
      const answer = await app.page.goto(path);
      expect(answer?.status()).toBe(404);
      expect(answer?.headers()['content-security-policy']).toContain("script-src 'self'");
      await app.page.getByRole('heading', { name: 'There is no such page' }).waitFor();
    };
    await open('/nonsense');
    await app.page.getByRole('link', { name: 'the list of jobs' }).click();
    await app.page.getByLabel('One of your API tokens').waitFor();
    await signIn();
    for (const path of ['/jobs/abc', '/spend/7']) await open(path);
    await accessible('no-such-page');
    await app.page.getByRole('link', { name: 'the list of clusters' }).click();
    await app.page.getByRole('heading', { name: 'Clusters' }).waitFor();
    // Chromium itself reports each document with status 404.
    expect(complaints.filter((text) => !text.includes('status of 404'))).toEqual([]);
  });

  it('says that the API cannot be reached, keeps the token, and goes on when it answers', async () => {
    await signIn();
    await app.page.route('**/v1/whoami', (route) => route.abort());
    await app.page.reload();
    await app.page.getByText('The API cannot be reached. Trying again').waitFor();
    expect(await app.page.getByLabel('One of your API tokens').count()).toBe(0);
    await app.page.unroute('**/v1/whoami');
    await app.page.route('**/v1/whoami', (route) =>
      route.fulfill({ status: 503, json: { error: { message: 'No database.' } } }),
    );
    await app.page.getByText('No database. Trying again').waitFor();
    await app.page.unroute('**/v1/whoami');
    await app.page.getByRole('heading', { name: 'Clusters' }).waitFor();
  });

  it('lists clusters live, filters them, and shows one with its actions', async () => {
    const number = await startCluster('blue');
    await signIn();
    await app.page.getByRole('link', { name: 'blue' }).waitFor();
    await startCluster('red');
    await app.page.getByRole('link', { name: 'red' }).waitFor();
    await accessible('clusters');
    await app.page.getByLabel('Search').fill('blu');
    await app.page.getByRole('link', { name: 'red' }).waitFor({ state: 'detached' });
    await app.page.getByRole('link', { name: 'blue' }).click();
    await app.page.getByRole('heading', { name: 'blue' }).waitFor();
    await app.page.getByText(`i_blue_0`).waitFor();
    const state = app.api.workflows.clusters.get(number);
    if (state !== undefined) addEvent(state, app.api.now(), 'NOTE', 'something happened just now');
    await app.page.getByText('something happened just now').waitFor();
    await accessible('cluster');
    await app.page.getByLabel('Workers').fill('5');
    await app.page.getByRole('button', { name: 'Scale' }).click();
    await eventually(() => state?.target === 6);
    await app.page.getByRole('button', { name: 'Stop' }).click();
    await app.page.getByRole('button', { name: 'Yes, stop' }).click();
    await app.page.locator('.title .state', { hasText: 'stopping' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows a job with a cell for each task, its tasks by state, and cancels it', async () => {
    await app.api.submit({ name: 'numbers', command: ['echo', 'hello'], ntasks: 300 });
    await signIn();
    await app.page.getByRole('link', { name: 'Jobs' }).click();
    await app.page.getByRole('link', { name: 'numbers' }).waitFor();
    await accessible('jobs');
    await app.page.getByRole('link', { name: 'numbers' }).click();
    await app.page.getByRole('img', { name: 'Tasks by state: 300 pending' }).waitFor();
    const rows = app.page.getByRole('table', { name: 'Tasks', exact: true }).getByRole('row');
    await eventually(async () => (await rows.count()) === 101);
    await app.page.getByRole('button', { name: 'Show more' }).click();
    await eventually(async () => (await rows.count()) === 201);
    await app.page.getByLabel('Task state').selectOption('done');
    await app.page.getByText('No task is in this state.').waitFor();
    await app.page.getByLabel('Task state').selectOption('');
    await app.page.getByLabel('From place').press('ControlOrMeta+A');
    await app.page.getByLabel('From place').pressSequentially('299');
    await app.page.getByLabel('From place').press('Enter');
    await eventually(async () => (await rows.count()) === 2);
    await accessible('job');
    await app.page.getByRole('button', { name: 'Cancel' }).click();
    await app.page.getByRole('button', { name: 'Yes, cancel' }).click();
    await app.page.locator('.title .state', { hasText: 'cancelled' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows 20,000 tasks with a cell for each and how long they took, and finds the task of a cell', async () => {
    const number = await app.api.submit({ name: 'many', command: ['true'], ntasks: 20_000 });
    const job = app.api.workflows.jobs.get(number);
    if (job === undefined) throw new Error('no job');
    const nowMs = app.api.now();
    for (let first = 0; first < 9_000; first += maxUnwrittenRecords) {
      endTasks(
        job,
        Array.from({ length: maxUnwrittenRecords }, (_, n) => first + n),
        (task) => ({
          exitCode: task % 7 === 0 ? 1 : 0,
          startedAtMs: nowMs - 100_000,
          endedAtMs: nowMs - 80_000 + ((task * 37) % 15_000),
        }),
      );
      await archivePages(app.api, job);
    }
    await signIn();
    await app.page.goto(`/jobs/${number}`);
    const grid = app.page.getByRole('img', { name: 'Tasks by state: 11000 pending, 7714 done, 1286 error' });
    await grid.waitFor();
    await app.page.getByRole('cell', { name: '20 s to 21 s' }).waitFor();
    await accessible('job-of-20000');
    await grid.click({ position: { x: 1, y: 1 } });
    expect(await app.page.getByLabel('From place').inputValue()).toBe('0');
    const { width = 0, height = 0 } = (await grid.boundingBox()) ?? {};
    await grid.click({ position: { x: Math.floor(width / 2), y: Math.floor(height / 2) } });
    const from = Number(await app.page.getByLabel('From place').inputValue());
    expect(from).toBeGreaterThan(5_000);
    await app.page
      .getByRole('table', { name: 'Tasks', exact: true })
      .getByText(String(from), { exact: true })
      .waitFor();
    expect(complaints).toEqual([]);
  });

  it('draws a million tasks that alternate, ten to a cell', async () => {
    const number = await app.api.submit({ ntasks: 3 });
    const runs = Array.from({ length: 50_000 }, (_, at) => [
      { state: 'done', count: 1 },
      { state: at % 9 === 0 ? 'error' : 'running', count: 1 },
    ]).flat();
    await signIn();
    await app.page.route('**/task-states', (route) =>
      route.fulfill({ json: { total: 1_000_000, tasksPerCell: 10, runs, durations: [] } }),
    );
    await app.page.goto(`/jobs/${number}`);
    await app.page.getByText('Each cell stands for 10 of 1000000 tasks').waitFor();
    const canvas = app.page.locator('canvas.grid');
    const height = await canvas.evaluate((element) => element.clientHeight);
    expect([height > 100, height < 1_000]).toEqual([true, true]);
    await app.page.getByLabel('Task state').selectOption('pending');
    await app.page.getByRole('cell', { name: 'pending' }).first().waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows what was spent, by user and by day', async () => {
    const number = await startCluster('blue');
    const hourMs = 3_600_000;
    const own = { role: 'worker', type: 'm6i.large', zone: 'a', market: 'spot', tags: { team: hostile } } as const;
    const costs = [1, 2, 3].map((day) => ({
      ...{
        ...own,
        instance: `i-${day}`,
        microsPerHour: 960_000,
        diskMicrosPerHour: 0,
        addressMicrosPerHour: 0,
        source: 'a test',
      },
      ...{ fromMs: app.api.now() - day * 30 * hourMs, toMs: app.api.now() - day * 30 * hourMs + 5 * hourMs },
    }));
    const { view } = await app.api.deps.views.cluster('default', number);
    await app.api.store.clusters.project({ view: { ...view, costs }, version: 99, nowMs: app.api.now() });
    await signIn();
    await app.page.getByRole('link', { name: 'Spend' }).click();
    await app.page.getByText('$14.40').first().waitFor();
    await app.page.locator('.chart canvas').waitFor();
    await accessible('spend');
    await app.page.getByRole('combobox', { name: 'By' }).selectOption('tag');
    await app.page.getByText(`team=${hostile}`).waitFor();
    expect(await app.page.title()).toBe('Spend · Ropewalk');
    await app.page.goto(`/clusters/${number}`);
    await app.page.getByRole('img', { name: /^Approx cloud cost from .*: \$14\.40$/ }).waitFor();
    await accessible('cluster-cost');
  });

  it('shows hostile texts as texts', async () => {
    const number = await startCluster('plain');
    const state = app.api.workflows.clusters.get(number);
    if (state === undefined) throw new Error('no cluster');
    addEvent(state, app.api.now(), 'NOTE', hostile);
    Object.assign(state, { alarm: { code: 'X', text: hostile, atMs: app.api.now() } });
    state.failures['X'] = { count: 1, text: hostile, lastAtMs: app.api.now() };
    const job = await app.api.submit({ command: ['echo', hostile] });
    await signIn();
    for (const path of [`/clusters/${number}`, '/jobs', `/jobs/${job}`]) {
      await app.page.goto(path);
      await app.page.getByText('owned').first().waitFor();
      expect(await app.page.locator('main img, main script').count()).toBe(0);
      expect(await app.page.title()).not.toBe('owned');
    }
    expect(complaints).toEqual([]);
  });

  it('shows a reader no buttons that act', async () => {
    const number = await startCluster('blue');
    const job = await app.api.submit({ ntasks: 3 });
    await signIn(await app.api.addToken('default', ['read'], 'bob', 'read-only'));
    for (const [path, text] of [
      [`/clusters/${number}`, 'i_blue_0'],
      [`/jobs/${job}`, 'Progress'],
    ] as const) {
      await app.page.goto(path);
      await app.page.getByText(text).first().waitFor();
      for (const name of ['Stop', 'Scale', 'Cancel']) {
        expect(await app.page.getByRole('button', { name, exact: true }).count()).toBe(0);
      }
    }
  });

  it('shows another workspace nothing', async () => {
    const number = await startCluster('secret');
    await signIn(await app.api.addToken('other'));
    await app.page.goto(`/clusters/${number}`);
    await app.page.getByRole('alert').waitFor();
    expect(await app.page.textContent('main')).not.toContain('secret');
  });

  it('connects again by itself when the API was away', async () => {
    await startCluster('blue');
    await signIn();
    await app.page.getByRole('link', { name: 'blue' }).waitFor();
    await close();
    await app.page.getByText('connection lost, trying again').waitFor();
    await startCluster('red');
    await listen();
    await app.page.getByRole('link', { name: 'red' }).waitFor();
    await app.page.getByRole('status').getByText('live', { exact: true }).waitFor();
    expect(await app.page.getByRole('link', { name: 'blue' }).count()).toBe(1);
  });

  it('can be used by the keyboard alone', async () => {
    await startCluster('blue');
    await signIn();
    await app.page.getByRole('link', { name: 'blue' }).waitFor();
    await app.page.keyboard.press('Tab');
    expect(await app.page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the page');
    await app.page.getByRole('link', { name: 'blue' }).focus();
    await app.page.keyboard.press('Enter');
    await app.page.getByRole('heading', { name: 'blue' }).waitFor();
    await app.page.goBack();
    await app.page.getByRole('heading', { name: 'Clusters' }).waitFor();
  });
});
