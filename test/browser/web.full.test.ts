// The web application in a real browser: each page, each action, hostile texts, a read-only user, an API that restarts, and WCAG AA.
// The API is the real application; the workflows behind it are in memory. With ROPEWALK_SCREENSHOTS it writes pictures there.
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';

import { serve, type ServerType } from '@hono/node-server';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { createApp } from '../../api/app.ts';
import { webBundle, type WebBundle } from '../../api/routes/web.ts';
import { addEvent } from '../../domain/cluster/notes.ts';
import { buildWeb } from '../../web/build.ts';
import { createTestApi, launch, type TestApi } from '../api/support.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { hasChromium, launchChromium } from './chromium.ts';

/** Runs if a page takes it for HTML. */
const hostile = `<img src=x onerror="document.title='owned'">"'&<script>document.title='owned'</script>`;
const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const shots = process.env['ROPEWALK_SCREENSHOTS'];

describe.runIf(hasChromium)('the web application', () => {
  let browser: Browser;
  let bundle: WebBundle;
  let directory: string;
  let api: TestApi;
  let server: ServerType;
  let port: number;
  let page: Page;
  const complaints: string[] = [];

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'ropewalk-web-'));
    await buildWeb(join(directory, 'web.json'));
    bundle = webBundle.parse(JSON.parse(await readFile(join(directory, 'web.json'), 'utf8')));
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await rm(directory, { recursive: true, force: true });
  });
  beforeEach(async () => {
    api = await createTestApi({ web: bundle });
    port = await freePort();
    await listen();
    const context = await browser.newContext({ baseURL: `http://127.0.0.1:${port}`, colorScheme: 'light' });
    page = await context.newPage();
    complaints.length = 0;
    page.on('console', (message) => void (message.type() === 'error' && complaints.push(message.text())));
    page.on('pageerror', (error) => complaints.push(error.message));
  });
  afterEach(async () => {
    await page.context().close();
    await close();
  });

  async function listen(): Promise<void> {
    server = serve({ fetch: createApp(api.deps).fetch, hostname: '127.0.0.1', port });
    if (!server.listening) await once(server, 'listening');
  }
  async function close(): Promise<void> {
    const closed = new Promise((resolve) => server.close(resolve));
    if ('closeAllConnections' in server) server.closeAllConnections();
    await closed;
  }
  async function signIn(token = api.token): Promise<void> {
    await page.goto('/');
    await page.getByLabel('One of your API tokens').fill(token);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('link', { name: 'Spend' }).waitFor();
  }
  /** Rules of WCAG 2.1 A and AA. */
  async function accessible(name: string): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      // Outside of the page's policy, as a tester's own script is.
      await page.evaluate(await readFile(axeFile, 'utf8'));
      const violations = await page.evaluate(runAxe);
      expect({ name, colorScheme, violations }).toEqual({ name, colorScheme, violations: [] });
      if (shots !== undefined) await page.screenshot({ path: join(shots, `${name}-${colorScheme}.png`) });
    }
    await page.setViewportSize({ width: 375, height: 740 });
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(375);
    if (shots !== undefined) await page.screenshot({ path: join(shots, `${name}-phone.png`) });
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.emulateMedia({ colorScheme: 'light' });
  }
  async function startCluster(name: string): Promise<number> {
    const number = await api.startCluster({ name, workers: 3 });
    for (let slot = 0; slot < 4; slot += 1) launch(api, number, `i_${name}_${slot}`, slot);
    return number;
  }

  it('is small, and sends nothing but its own files under a strict policy', async () => {
    expect(gzipSync(bundle.html + bundle.js + bundle.css).length).toBeLessThan(250_000);
    const answer = await page.goto('/clusters/7');
    const policy = (await answer?.allHeaders())?.['content-security-policy'] ?? '';
    expect(policy).toContain("script-src 'self'; style-src 'self'; connect-src 'self'");
    expect(policy).toContain("default-src 'none'");
    expect(policy).not.toContain('unsafe');
    await page.getByRole('heading', { name: 'Ropewalk' }).waitFor();
    await accessible('sign-in');
    expect(complaints).toEqual([]);
  });

  it('refuses a token that is not good, and keeps a good one for this tab alone unless asked', async () => {
    await page.goto('/');
    await page.getByLabel('One of your API tokens').fill('rw_default_aaaaaaaaaaaa-nonsense');
    await page.keyboard.press('Enter');
    await page.getByRole('alert').waitFor();
    await signIn();
    expect(await page.evaluate(() => [localStorage.length, document.cookie])).toEqual([0, '']);
    await page.reload();
    await page.getByRole('heading', { name: 'Clusters' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('One of your API tokens').waitFor();
    expect(await page.evaluate(() => sessionStorage.length)).toBe(0);
  });

  it('says that the API cannot be reached, keeps the token, and goes on when it answers', async () => {
    await signIn();
    await page.route('**/v1/whoami', (route) => route.abort());
    await page.reload();
    await page.getByText('The API cannot be reached. Trying again').waitFor();
    expect(await page.getByLabel('One of your API tokens').count()).toBe(0);
    await page.unroute('**/v1/whoami');
    await page.route('**/v1/whoami', (route) =>
      route.fulfill({ status: 503, json: { error: { message: 'No database.' } } }),
    );
    await page.getByText('No database. Trying again').waitFor();
    await page.unroute('**/v1/whoami');
    await page.getByRole('heading', { name: 'Clusters' }).waitFor();
  });

  it('lists clusters live, filters them, and shows one with its actions', async () => {
    const number = await startCluster('blue');
    await signIn();
    await page.getByRole('link', { name: 'blue' }).waitFor();
    await startCluster('red');
    await page.getByRole('link', { name: 'red' }).waitFor();
    await accessible('clusters');
    await page.getByLabel('Search').fill('blu');
    await page.getByRole('link', { name: 'red' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'blue' }).click();
    await page.getByRole('heading', { name: 'blue' }).waitFor();
    await page.getByText(`i_blue_0`).waitFor();
    const state = api.workflows.clusters.get(number);
    if (state !== undefined) addEvent(state, api.now(), 'NEWS', 'something happened just now');
    await page.getByText('something happened just now').waitFor();
    await accessible('cluster');
    await page.getByLabel('Workers').fill('5');
    await page.getByRole('button', { name: 'Scale' }).click();
    await eventually(() => state?.target === 6);
    await page.getByRole('button', { name: 'Stop' }).click();
    await page.getByRole('button', { name: 'Yes, stop' }).click();
    await page.locator('.title .state', { hasText: 'stopping' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows a job with a cell for each task, its tasks by state, and cancels it', async () => {
    await api.submit({ name: 'numbers', command: ['echo', 'hello'], ntasks: 300 });
    await signIn();
    await page.getByRole('link', { name: 'Jobs' }).click();
    await page.getByRole('link', { name: 'numbers' }).waitFor();
    await accessible('jobs');
    await page.getByRole('link', { name: 'numbers' }).click();
    await page.getByRole('img', { name: 'Tasks by state: 300 pending' }).waitFor();
    expect(await page.getByRole('row').count()).toBeGreaterThan(100);
    await page.getByLabel('Task state').selectOption('done');
    expect(await page.getByRole('table', { name: 'Tasks' }).getByRole('row').count()).toBe(1);
    await accessible('job');
    await page.getByRole('button', { name: 'Cancel' }).click();
    await page.getByRole('button', { name: 'Yes, cancel' }).click();
    await page.locator('.title .state', { hasText: 'cancelled' }).waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows what was spent, by user and by day', async () => {
    const number = await startCluster('blue');
    const hourMs = 3_600_000;
    const own = { role: 'worker', type: 'm6i.large', zone: 'a', market: 'spot', tags: { team: hostile } } as const;
    const costs = [1, 2, 3].map((day) => ({
      ...{ ...own, instance: `i-${day}`, microsPerHour: 960_000, diskMicrosPerHour: 0, source: 'a test' },
      ...{ fromMs: api.now() - day * 30 * hourMs, toMs: api.now() - day * 30 * hourMs + 5 * hourMs },
    }));
    const { view } = await api.deps.views.cluster('default', number);
    await api.store.clusters.project({ view: { ...view, costs }, version: 99, nowMs: api.now() });
    await signIn();
    await page.getByRole('link', { name: 'Spend' }).click();
    await page.getByText('$14.40').first().waitFor();
    await page.locator('.chart canvas').waitFor();
    await accessible('spend');
    await page.getByRole('combobox', { name: 'By' }).selectOption('tag');
    await page.getByText(`team=${hostile}`).waitFor();
    expect(await page.title()).toBe('Spend · Ropewalk');
  });

  it('shows hostile texts as texts', async () => {
    const number = await startCluster('plain');
    const state = api.workflows.clusters.get(number);
    if (state === undefined) throw new Error('no cluster');
    addEvent(state, api.now(), 'NEWS', hostile);
    Object.assign(state, { alarm: { code: 'X', text: hostile, atMs: api.now() } });
    state.failures['X'] = { count: 1, text: hostile, lastAtMs: api.now() };
    const job = await api.submit({ command: ['echo', hostile] });
    await signIn();
    for (const path of [`/clusters/${number}`, '/jobs', `/jobs/${job}`]) {
      await page.goto(path);
      await page.getByText('owned').first().waitFor();
      expect(await page.locator('main img, main script').count()).toBe(0);
      expect(await page.title()).not.toBe('owned');
    }
    expect(complaints).toEqual([]);
  });

  it('shows a reader no buttons that act', async () => {
    const number = await startCluster('blue');
    const job = await api.submit({ ntasks: 3 });
    await signIn(await api.addToken('default', ['read'], 'bob', 'read-only'));
    for (const [path, text] of [
      [`/clusters/${number}`, 'i_blue_0'],
      [`/jobs/${job}`, 'Progress'],
    ] as const) {
      await page.goto(path);
      await page.getByText(text).first().waitFor();
      for (const name of ['Stop', 'Scale', 'Cancel']) {
        expect(await page.getByRole('button', { name, exact: true }).count()).toBe(0);
      }
    }
  });

  it('shows another workspace nothing', async () => {
    const number = await startCluster('secret');
    await signIn(await api.addToken('other'));
    await page.goto(`/clusters/${number}`);
    await page.getByRole('alert').waitFor();
    expect(await page.textContent('main')).not.toContain('secret');
  });

  it('connects again by itself when the API was away', async () => {
    await startCluster('blue');
    await signIn();
    await page.getByRole('link', { name: 'blue' }).waitFor();
    await close();
    await page.getByText('connection lost, trying again').waitFor();
    await startCluster('red');
    await listen();
    await page.getByRole('link', { name: 'red' }).waitFor();
    await page.getByRole('status').getByText('live', { exact: true }).waitFor();
    expect(await page.getByRole('link', { name: 'blue' }).count()).toBe(1);
  });

  it('can be used by the keyboard alone', async () => {
    await startCluster('blue');
    await signIn();
    await page.getByRole('link', { name: 'blue' }).waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe('Skip to the page');
    await page.getByRole('link', { name: 'blue' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'blue' }).waitFor();
    await page.goBack();
    await page.getByRole('heading', { name: 'Clusters' }).waitFor();
  });
});

/** Runs in the page. */
async function runAxe(): Promise<string[]> {
  const { axe } = window as unknown as {
    axe: { run: (options: object) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
  };
  const { violations } = await axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] });
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}
