// JupyterLab in a real browser, through the relay: a notebook's cell computes.
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createClient, type Client } from '../../sdk/client.ts';
import { makeDaskHome } from '../support/dask.ts';
import { eventually } from '../support/eventually.ts';
import { removeHome, startStack, type TestStack } from '../support/stack.ts';
import { hasChromium, launchChromium } from './chromium.ts';

const requirements = ['jupyterlab==4.6.6', 'jupyter-server==2.21.1', 'ipykernel==7.4.0'];

describe.runIf(hasChromium)('JupyterLab in a browser', () => {
  let home: string;
  let stack: TestStack;
  let client: Client;
  let browser: Browser;
  let page: Page;
  const complaints: string[] = [];
  beforeAll(async () => {
    home = await makeDaskHome();
    stack = await startStack({ home });
    client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
    browser = await launchChromium();
    page = await browser.newPage({ viewport: { width: 1280, height: 800 } });
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
  });
  afterAll(async () => {
    await browser?.close();
    await stack?.stop();
    await removeHome(home);
  });

  it('opens by the link, and a cell of a new notebook computes', async () => {
    const { number } = await client.clusters.create({ workers: 0, jupyter: true, software: { requirements } });
    await client.clusters.waitForScheduler(number, { timeoutMs: 240_000 });
    const { url } = await client.clusters.jupyterLink(number);
    try {
      // The agent connects its relay after the scheduler has started; until then the page says so.
      await eventually(async () => {
        await page.goto(url);
        await page.waitForURL(/\/jupyter\/lab/, { timeout: 10_000 });
        return true;
      });
      await page.locator('.jp-LauncherCard[data-category="Notebook"]').first().click({ timeout: 60_000 });
      const cell = page.locator('.jp-Notebook .cm-content').first();
      await cell.click({ timeout: 60_000 });
      // A cell started before the kernel is ready does not run.
      await page.getByText('Python 3 (ipykernel) | Idle').waitFor({ timeout: 60_000 });
      await page.keyboard.type('6 * 7');
      await page.keyboard.press('Shift+Enter');
      await page.locator('.jp-OutputArea-output', { hasText: '42' }).waitFor({ timeout: 60_000 });
    } catch (error) {
      throw new Error(complaints.join('\n'), { cause: error });
    }
    // Actions that the relay's headers forbid.
    expect(complaints.filter((text) => /refuse|policy|blocked/i.test(text))).toEqual([]);
    await client.clusters.stop(number);
    await client.clusters.waitForEnd(number, { timeoutMs: 60_000 });
  }, 400_000);
});
