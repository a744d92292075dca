// The pages of an admin in a real browser: approvals, with an API that restarts between request and decision, and the workspace.
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { serve, type ServerType } from '@hono/node-server';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { createApp } from '../../api/app.ts';
import { webBundle, type WebBundle } from '../../api/routes/web.ts';
import { buildWeb } from '../../web/build.ts';
import { cloudApi } from '../api/cloud.ts';
import type { TestApi } from '../api/support.ts';
import { freePort } from '../support/free-port.ts';
import { hasChromium, launchChromium } from './chromium.ts';

/** Runs if a page takes it for HTML. */
const hostile = `<img src=x onerror="document.title='owned'">`;
const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const shots = process.env['ROPEWALK_SCREENSHOTS'];

describe.runIf(hasChromium)('the pages of an admin', () => {
  let browser: Browser;
  let bundle: WebBundle;
  let directory: string;
  let api: TestApi;
  let server: ServerType;
  let port: number;
  let page: Page;
  let member: string;
  let boss: string;
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
    api = await cloudApi('aws', { web: bundle });
    member = await api.addToken('default', ['read', 'write'], 'bob', 'member');
    boss = await api.addToken('default', ['read', 'write', 'admin'], 'boss', 'admin');
    await api.call('PUT', '/v1/workspace/approval', { token: boss, body: { dollarsPerHour: 1 } });
    port = await freePort();
    await listen();
    const context = await browser.newContext({ baseURL: `http://127.0.0.1:${port}`, colorScheme: 'light' });
    page = await context.newPage();
    complaints.length = 0;
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
  async function openAs(token: string, path: string): Promise<void> {
    await page.goto('/');
    await page.evaluate((text) => sessionStorage.setItem('ropewalk.token', text), token);
    await page.goto(path);
  }
  /** Rules of WCAG 2.1 A and AA, light and dark; nothing wider than a phone. */
  async function accessible(name: string): Promise<void> {
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
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
  const startBig = (name: string): Promise<number> =>
    api.startCluster({ name, workers: 20, workerVmTypes: ['m6i.large'] }, { token: member });

  it('shows what waits; an admin approves one after the API restarted, and rejects another', async () => {
    const first = await startBig('first');
    const second = await startBig('second');
    await openAs(boss, '/approvals');
    const row = (name: string) => page.getByRole('row').filter({ has: page.getByRole('link', { name, exact: true }) });
    await row('first').getByText('more than the $1.00').waitFor();
    await accessible('approvals');
    await close();
    await row('first').getByRole('button', { name: 'Approve' }).click();
    await row('first').getByRole('button', { name: 'Yes, approve' }).click();
    await row('first').getByText('The API cannot be reached.').waitFor();
    await listen();
    await row('first').getByRole('button', { name: 'Approve' }).click();
    await row('first').getByRole('button', { name: 'Yes, approve' }).click();
    await row('first').getByText('by boss').waitFor();
    await row('second').getByRole('button', { name: 'Reject' }).click();
    await row('second').getByRole('button', { name: 'Yes, reject' }).click();
    await row('second').getByText('rejected').waitFor();
    await api.work();
    expect(api.workflows.starts).toEqual([`cluster/${first}`]);
    expect((await api.store.clusters.find('default', second))?.status).toBe('stopped');
    expect(complaints).toEqual([]);
  });

  it('a member sees what waits and why, and no button; the page of the cluster says so', async () => {
    await startBig('mine');
    await openAs(member, '/approvals');
    await page.getByText('more than the $1.00').waitFor();
    expect(await page.getByRole('button', { name: 'Approve' }).count()).toBe(0);
    await page.getByRole('link', { name: 'mine' }).click();
    await page.getByText('for an admin to approve it').first().waitFor();
    expect(complaints).toEqual([]);
  });

  it('shows people, budgets, tokens, environments and webhooks of the workspace as texts', async () => {
    const put = (path: string, body: object) => api.call('PUT', path, { token: boss, body });
    await put('/v1/budgets/ml', { dollars: 500, user: 'bob' });
    await put('/v1/environments/weather', { container: 'ghcr.io/example/weather:1' });
    const webhook = { url: 'https://hooks.example/ours', events: ['budget.*'] };
    await api.call('POST', '/v1/webhooks', { token: boss, body: webhook });
    await api.call('POST', '/v1/tokens', { token: boss, body: { name: hostile, scopes: ['read'] } });
    await openAs(boss, '/');
    await page.getByRole('link', { name: 'Workspace' }).click();
    await page.getByRole('heading', { name: 'Workspace default' }).waitFor();
    for (const text of ['user bob', 'weather', 'https://hooks.example', 'budget.*', hostile]) {
      await page.getByText(text, { exact: true }).first().waitFor();
    }
    await page.getByRole('cell', { name: 'member', exact: true }).waitFor();
    await accessible('workspace');
    expect([await page.title(), complaints]).toEqual(['Workspace default · Ropewalk', []]);
  });
});

async function runAxe(): Promise<string[]> {
  const { axe } = globalThis as unknown as {
    axe: {
      run(context: Document, options: object): Promise<{ violations: { id: string; nodes: { html: string }[] }[] }>;
    };
  };
  const tags = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'];
  const { violations } = await axe.run(document, { runOnly: { type: 'tag', values: tags } });
  return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join(' ')}`);
}
