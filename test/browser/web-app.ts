// The web application in Chromium, on an API in memory. Each test has its own API and page; with ROPEWALK_SCREENSHOTS, pages that
// are checked for accessibility leave their pictures there.
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { serve, type ServerType } from '@hono/node-server';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';

import { createApp } from '../../api/app.ts';
import { webBundle, type WebBundle } from '../../api/routes/web.ts';
import { buildWeb } from '../../web/build.ts';
import type { TestApi } from '../api/support.ts';
import { freePort } from '../support/free-port.ts';
import { launchChromium } from './chromium.ts';

/** Runs if a page takes it for HTML. */
export const hostile = `<img src=x onerror="document.title='owned'">"'&<script>document.title='owned'</script>`;

const axeFile = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
const shots = process.env['ROPEWALK_SCREENSHOTS'];

export interface WebApp {
  readonly api: TestApi;
  readonly page: Page;
  readonly bundle: WebBundle;
  /** Errors of the page and its console. */
  readonly complaints: string[];
  /** The API answers, or does not, at the same address. */
  listen: () => Promise<void>;
  close: () => Promise<void>;
  /** Signs in as users do; by default with the API's own token. */
  signIn: (token?: string) => Promise<void>;
  openAs: (token: string, path: string) => Promise<void>;
  /** Rules of WCAG 2.1 A and AA, light and dark; nothing wider than a phone. */
  accessible: (name: string) => Promise<void>;
}

/** `createApi`: for the address at which browsers find it. */
export function useWebApp(createApi: (options: { bundle: WebBundle; origin: string }) => Promise<TestApi>): WebApp {
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
    port = await freePort();
    api = await createApi({ bundle, origin: `http://127.0.0.1:${port}` });
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

  return {
    get api() {
      return api;
    },
    get page() {
      return page;
    },
    get bundle() {
      return bundle;
    },
    ...{ complaints, listen, close },
    signIn: async (token = api.token) => {
      await page.goto('/');
      await page.getByLabel('One of your API tokens').fill(token);
      await page.getByRole('button', { name: 'Sign in' }).click();
      await page.getByRole('link', { name: 'Spend' }).waitFor();
    },
    openAs: async (token, path) => {
      await page.goto('/');
      await page.evaluate((text) => sessionStorage.setItem('ropewalk.token', text), token);
      await page.goto(path);
    },
    accessible: async (name) => {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        // Outside of the page's policy, as a tester's own script is.
        await page.evaluate(await readFile(axeFile, 'utf8'));
        const violations = await page.evaluate(runAxe);
        expect({ name, colorScheme, violations }).toEqual({ name, colorScheme, violations: [] });
        if (shots !== undefined)
          await page.screenshot({ path: join(shots, `${name}-${colorScheme}.png`), fullPage: true });
      }
      await page.setViewportSize({ width: 360, height: 740 });
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
      if (shots !== undefined) await page.screenshot({ path: join(shots, `${name}-phone.png`), fullPage: true });
      await page.setViewportSize({ width: 1280, height: 800 });
      await page.emulateMedia({ colorScheme: 'light' });
    },
  };
}

/** Runs in the page. */
async function runAxe(): Promise<string[]> {
  const { axe } = window as unknown as {
    axe: { run: (options: object) => Promise<{ violations: { id: string; nodes: { html: string }[] }[] }> };
  };
  const { violations } = await axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] });
  return violations.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 200)}`));
}
