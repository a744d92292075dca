// A hostile page on a cluster's dashboard, in a real browser: the parts of the API, of the sign-in page and of other clusters'
// dashboards that its scripts cannot reach. The API is the real application with a real token.
import { once } from 'node:events';

import { serve } from '@hono/node-server';
import type { Browser, Page } from 'playwright-core';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { createTestApi } from '../api/support.ts';
import { cluster, createBench, type Bench } from '../relay/support.ts';
import { freePort } from '../support/free-port.ts';
import { hasChromium, launchChromium } from './chromium.ts';

const root = `/clusters/${cluster}/dashboard`;

describe.runIf(hasChromium)('a hostile page on a dashboard', () => {
  let browser: Browser;
  let bench: Bench;
  const endings: (() => unknown)[] = [];
  beforeAll(async () => {
    browser = await launchChromium();
  });
  afterAll(() => browser?.close());
  afterEach(async () => {
    for (const end of endings.splice(0).toReversed()) await end();
    await bench.end();
  });

  async function open(hostTemplate: string) {
    const api = await createTestApi();
    const server = serve({ fetch: api.app.fetch, hostname: '127.0.0.1', port: 0 });
    if (!server.listening) await once(server, 'listening');
    endings.push(() => {
      if ('closeAllConnections' in server) server.closeAllConnections();
      server.close();
    });
    const address = server.address();
    const apiOrigin = `http://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`;
    const port = await freePort();
    bench = await createBench({ dashboardUrl: `http://${hostTemplate}:${port}` });
    Object.assign(bench.state, { port, agentPort: await freePort() });
    const target = await bench.startTarget((_request, response) => {
      response.setHeader('content-type', 'text/html');
      response.end('<!doctype html><title>Dask</title><p>hostile');
    });
    const { relay } = await bench.startApi();
    await bench.startAgent(target);
    await bench.connected(relay);
    const context = await browser.newContext();
    endings.push(() => context.close());
    const page = await context.newPage();
    const dashboardOrigin = bench.state.dashboardUrl.replace('{cluster}', String(cluster));
    const visit = async (): Promise<void> => {
      const claims = { workspace: 'default', cluster, user: 'ada', tokenId: 'tok000000001' };
      const { token } = await bench.tokens.mintDashboard(claims);
      await page.goto(`${dashboardOrigin}${root}/?link=${token}`);
      await page.waitForURL(`**${root}/status`);
      expect(await page.textContent('p')).toBe('hostile');
    };
    return { page, visit, apiOrigin, dashboardOrigin, token: api.token };
  }

  for (const hostTemplate of ['127.0.0.1', 'cluster-{cluster}.localhost']) {
    it(`at ${hostTemplate} cannot read the API, its sign-in page or what a browser keeps for it`, async () => {
      const { page, visit, apiOrigin, token } = await open(hostTemplate);
      // The capabilities of the API's own pages: without this control, the refusals below would prove nothing.
      await page.route(`${apiOrigin}/control`, (route) => route.fulfill({ contentType: 'text/html', body: '<p>ours' }));
      await page.goto(`${apiOrigin}/control`);
      expect(await read(page, `${apiOrigin}/v1/whoami`, token)).toBe(200);
      await page.evaluate(() => localStorage.setItem('token', 'rw_secret'));
      await visit();
      expect(await read(page, `${apiOrigin}/v1/whoami`, token)).toBe('refused');
      expect(await read(page, `${apiOrigin}/login`, null)).toBe('refused');
      expect(await page.evaluate(() => [localStorage.getItem('token'), document.cookie])).toEqual([null, '']);
      expect(await openWindow(page, `${apiOrigin}/login`)).toBe('no window');
      expect(await frame(page, `${apiOrigin}/login`)).toBe('not loaded');
      expect(await frame(page, page.url())).toBe('not loaded');
    });

    it(`at ${hostTemplate} cannot be reached from the page that led to it, nor reach that page`, async () => {
      const { page, visit, apiOrigin } = await open(hostTemplate);
      await page.goto(`${apiOrigin}/login`);
      await visit();
      expect(await page.evaluate(() => [window.opener, window.length, crossOriginIsolated])).toEqual([null, 0, false]);
    });

    it(`at ${hostTemplate} cannot read the dashboard of another cluster`, async () => {
      const { page, visit, dashboardOrigin } = await open(hostTemplate);
      await visit();
      const other = dashboardOrigin.replace(`cluster-${cluster}`, `cluster-${cluster + 1}`);
      const url = `${other}/clusters/${cluster + 1}/dashboard/status`;
      // The browser would send the reader's cookie for that dashboard: only the page's own policy prevents the request.
      await page.context().addCookies([{ name: 'ropewalk_dashboard', value: 'x', url }]);
      expect(await read(page, `${dashboardOrigin}${root}/status`, null)).toBe(200);
      expect(await read(page, url, null)).toBe('refused');
      expect(await openWindow(page, url)).toBe('no window');
      expect(await frame(page, url)).toBe('not loaded');
    });
  }

  it('is shown under its own cluster’s name alone where each cluster has one', async () => {
    const { page, visit, dashboardOrigin } = await open('cluster-{cluster}.localhost');
    await visit();
    const other = dashboardOrigin.replace(`cluster-${cluster}`, `cluster-${cluster + 1}`);
    expect((await page.goto(`${other}${root}/status`))?.status()).toBe(421);
  });
});

/** The status that a script of the page reads, or `refused`. */
const read = (page: Page, url: string, token: string | null): Promise<number | 'refused'> =>
  page.evaluate(
    async ([address, bearer]) => {
      const headers = bearer === null ? {} : { authorization: `Bearer ${bearer}` };
      const answer = await fetch(address, { headers }).catch(() => null);
      return answer?.status ?? 'refused';
    },
    [url, token] as const,
  );

const openWindow = (page: Page, url: string): Promise<string> =>
  page.evaluate((address) => (window.open(address) === null ? 'no window' : 'a window'), url);

/** A frame that a policy blocks shows an error page, which has no readable document. */
const frame = (page: Page, url: string): Promise<string> =>
  page.evaluate(async (address) => {
    const made = document.createElement('iframe');
    made.src = address;
    const loaded = new Promise((resolve) => made.addEventListener('load', resolve));
    document.body.append(made);
    await loaded;
    return (made.contentDocument?.body.textContent ?? '') === '' ? 'not loaded' : 'loaded';
  }, url);
