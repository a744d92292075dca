// The real Dask dashboard in a real browser, through the relay: the pages behind the link.
import { createServer, type Server } from 'node:http';

import type { Browser, BrowserContext, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { createBench as createDask, type Bench as Dask } from '../dask/bench.ts';
import { startDriver, type Driver } from '../dask/driver.ts';
import { daskVersions } from '../dask/environments.ts';
import { cluster, createBench, portOf, type Bench } from '../relay/support.ts';
import { eventually } from '../support/eventually.ts';
import { hasChromium, launchChromium } from './chromium.ts';

const root = `/clusters/${cluster}/dashboard`;

describe.runIf(hasChromium)('the dashboard in a browser', () => {
  let dask: Dask;
  let driver: Driver;
  let bench: Bench;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  /** The browser's complaints: refused scripts, failed requests, errors in the page. */
  const complaints: string[] = [];

  beforeAll(async () => {
    dask = await createDask(daskVersions[0]);
    const scheduler = await dask.startScheduler();
    const hello = await scheduler.orEnded(dask.link.whenHello(60_000));
    await (await dask.startWorker(hello, 'a')).whenRegistered(60_000);
    driver = await startDriver(dask.pythonDirectory, hello.address, dask.certificates.client);
    bench = await createBench();
    const { relay } = await bench.startApi();
    await bench.startAgent(null, { target: () => ({ host: '127.0.0.1', port: hello.httpPort ?? 0 }) });
    await bench.connected(relay);
    browser = await launchChromium();
  });
  afterAll(async () => {
    await browser?.close();
    await bench?.end();
    await driver?.close();
    await dask?.close();
  });
  beforeEach(async () => {
    context = await browser.newContext({ baseURL: bench.state.dashboardUrl, viewport: { width: 1280, height: 800 } });
    page = await context.newPage();
    complaints.length = 0;
    page.on('console', (message) => {
      if (message.type() === 'error') complaints.push(message.text());
    });
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('response', (response) => {
      if (response.status() >= 400) complaints.push(`${response.status()} ${response.url()}`);
    });
  });
  afterEach(() => context.close());

  const link = async (): Promise<string> => {
    const { token } = await bench.tokens.mintDashboard({
      workspace: 'default',
      cluster,
      user: 'ada',
      tokenId: 'tok000000001',
    });
    return `${root}/?link=${token}`;
  };
  /** Bokeh has drawn a figure or a table. */
  const drawn = (): Promise<void> => page.locator('.bk-Figure, .bk-DataTable').first().waitFor();
  const runTasks = (name: string, count: number): Promise<unknown> =>
    driver.python(`result = sum(client.gather(client.map(lambda x: x + 1, range(${count}), key='${name}')))`);
  /** Rectangles of the task stream, counted in the page. */
  const rectangles = (): Promise<number> => page.evaluate(countRectangles);

  it('shows tasks as they run', async () => {
    const sockets: string[] = [];
    page.on('websocket', (socket) => sockets.push(new URL(socket.url()).pathname));
    await page.goto(await link());
    await page.waitForURL(`**${root}/status`);
    expect(page.url()).toBe(`${bench.state.dashboardUrl}${root}/status`);
    await drawn();
    expect(sockets).toEqual([`${root}/status/ws`]);
    expect(await runTasks('first', 40)).toBe(820);
    const before = await eventually(async () => {
      const count = await rectangles();
      return count >= 40 && count;
    });
    await runTasks('second', 60);
    await eventually(async () => (await rectangles()) >= before + 60);
    if (process.env['ROPEWALK_SCREENSHOTS'] !== undefined) {
      await page.screenshot({ path: `${process.env['ROPEWALK_SCREENSHOTS']}/dashboard.png` });
    }
    for (const name of ['Workers', 'Tasks', 'Graph', 'Groups']) {
      await page.getByRole('link', { name, exact: true }).click();
      await page.waitForURL(`**${root}/${name.toLowerCase()}`);
      await drawn();
    }
    expect(complaints).toEqual([]);
  });

  it('is not there without the link, and has its address no more after it', async () => {
    const refused = await page.goto(`${root}/status`);
    expect(refused?.status()).toBe(401);
    expect(await page.textContent('body')).toContain(`ropewalk cluster dashboard ${cluster}`);
    await page.goto(await link());
    await page.waitForURL(`**${root}/status`);
    expect(await page.evaluate(() => document.cookie)).toBe('');
    await page.goBack();
    expect(page.url()).not.toContain('link=');
    const other = await page.goto(`/clusters/${cluster + 1}/dashboard/status`);
    expect(other?.status()).toBe(401);
  });

  it('opens from a page of another origin, which cannot read it', async () => {
    const elsewhere = await serveElsewhere(`<a href="${bench.state.dashboardUrl}${await link()}">the dashboard</a>`);
    try {
      // Another site to the browser, on the same machine.
      await page.goto(`http://localhost:${portOf(elsewhere)}/`);
      await page.getByRole('link').click();
      await page.waitForURL(`**${root}/status`);
      await drawn();
      await page.goto(`http://localhost:${portOf(elsewhere)}/`);
      const url = `${bench.state.dashboardUrl.replace('http', 'ws')}${root}/status/ws`;
      expect(await page.evaluate(openSocket, url)).toBe('refused');
    } finally {
      elsewhere.closeAllConnections();
      elsewhere.close();
    }
  });
});

/** Runs in the page. */
function countRectangles(): number {
  const { Bokeh } = window as unknown as {
    Bokeh: { documents: { all_models: Iterable<{ data?: Record<string, ArrayLike<unknown>> }> }[] };
  };
  let most = 0;
  for (const { all_models } of Bokeh.documents) {
    for (const { data } of all_models) {
      if (data?.['worker_thread'] !== undefined) most = Math.max(most, data['start']?.length ?? 0);
    }
  }
  return most;
}

/** Runs in the page. */
function openSocket(url: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = new WebSocket(url, ['bokeh', 'x']);
    socket.addEventListener('open', () => resolve('opened'));
    socket.addEventListener('error', () => resolve('refused'));
  });
}

async function serveElsewhere(body: string): Promise<Server> {
  const server = createServer((_request, response) => {
    response.setHeader('content-type', 'text/html');
    response.end(`<!doctype html>${body}`);
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  return server;
}
