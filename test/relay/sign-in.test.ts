// Access to a dashboard: a link, then a cookie, each for one cluster and for a limited time.
import { afterEach, describe, expect, it } from 'vitest';

import { cluster, createBench, type Bench } from './support.ts';

const root = `/clusters/${cluster}/dashboard`;
const ada = { workspace: 'default', cluster, user: 'ada', tokenId: 'tok000000001' };

let bench: Bench;
afterEach(() => bench.end());

async function start(dashboardUrl?: string) {
  bench = await createBench(dashboardUrl === undefined ? {} : { dashboardUrl });
  const target = await bench.startTarget((_request, response) => void response.end('the page'));
  const { relay } = await bench.startApi();
  await bench.startAgent(target);
  await bench.connected(relay);
}

describe('without a session', () => {
  it('the page says how to get one', async () => {
    await start();
    for (const path of ['', '/', '/status', '/nothing', '/static/js/bokeh.js']) {
      const page = await bench.page(`${root}${path}`);
      expect(page.status).toBe(401);
      expect(page.body).toContain(`ropewalk cluster dashboard ${cluster}`);
      expect(page.body).toContain(`<a href="https://api.example.org/clusters/${cluster}/dashboard">`);
      expect(page.headers['content-security-policy']).toContain("default-src 'none'");
    }
    expect((await bench.page('/clusters')).status).toBe(404);
  });

  it.each<[string, (bench: Bench) => Promise<string>]>([
    ['nothing in it', () => Promise.resolve('ropewalk_dashboard=')],
    ["a link's token", async ({ tokens }) => `ropewalk_dashboard=${(await tokens.mintDashboard(ada)).token}`],
    ["another cluster's session", ({ cookie }) => cookie({ ...ada, cluster: cluster + 1 })],
    ['a changed session', async ({ cookie }) => `${await cookie()}x`],
    ['another name', async ({ cookie }) => `x${await cookie()}`],
  ])('a cookie with %s does not help', async (_what, make) => {
    await start();
    expect((await bench.page(`${root}/status`, { cookie: await make(bench) })).status).toBe(401);
  });

  it('a session ends after eight hours, and is found among other cookies', async () => {
    await start();
    const good = await bench.cookie();
    const other = await bench.cookie({ ...ada, cluster: cluster + 1 });
    expect((await bench.page(`${root}/status`, { cookie: `a=b; ${other}; ${good}` })).body).toBe('the page');
    bench.clock.offsetMs = 8 * 3_600_000 - 2_000;
    expect((await bench.page(`${root}/status`, { cookie: good })).status).toBe(200);
    bench.clock.offsetMs = 8 * 3_600_000;
    expect((await bench.page(`${root}/status`, { cookie: good })).status).toBe(401);
  });
});

describe('a link', () => {
  it('becomes a cookie for this cluster, and goes on without its token', async () => {
    await start();
    const { token } = await bench.tokens.mintDashboard(ada);
    const welcome = await bench.page(`${root}/?link=${token}&next=https://elsewhere.example/`);
    expect(welcome.status).toBe(200);
    expect(welcome.body).not.toContain(token);
    expect(welcome.body).not.toContain('elsewhere');
    expect(welcome.body).toContain(`content="0; url=${root}/status"`);
    expect(welcome.headers).toMatchObject({ 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' });
    const [cookie = ''] = welcome.headers['set-cookie'] ?? [];
    const [pair = '', ...attributes] = cookie.split('; ');
    expect(attributes.filter((one) => !one.startsWith('Expires'))).toEqual([
      `Path=/clusters/${cluster}/`,
      'Max-Age=28800',
      'HttpOnly',
      'SameSite=Strict',
    ]);
    expect((await bench.page(`${root}/status`, { cookie: pair })).body).toBe('the page');
    expect(await bench.page(`${root}/`, { cookie: pair })).toMatchObject({
      status: 303,
      headers: { location: `${root}/status` },
    });
    expect(await bench.page(root, { cookie: pair })).toMatchObject({ status: 303 });
    expect(bench.logged.join('\n')).not.toContain(token);
  });

  it('makes a cookie for encrypted connections only where the API is reached by one', async () => {
    await start('https://ropewalk.example');
    const { token } = await bench.tokens.mintDashboard(ada);
    const { headers } = await bench.page(`${root}/?link=${token}`);
    expect(headers['set-cookie']?.[0]).toMatch(/; Secure$/);
  });

  it('is good for five minutes, for its own cluster, and only where links go', async () => {
    await start();
    const { token, expiresAtMs } = await bench.tokens.mintDashboard(ada);
    expect(Math.abs(expiresAtMs - Date.now() - 300_000)).toBeLessThan(60_000);
    const other = await bench.tokens.mintDashboard({ ...ada, cluster: cluster + 1, tokenId: 'tok000000001' });
    const session = await bench.tokens.mintDashboardSession(ada);
    const open = async (path: string): Promise<number | undefined> => (await bench.page(path)).status;
    expect(await open(`${root}/?link=${other.token}`)).toBe(401);
    expect(await open(`${root}/?link=${session.token}`)).toBe(401);
    expect(await open(`${root}/?link=`)).toBe(401);
    expect(await open(`${root}/status?link=${token}`)).toBe(401);
    bench.clock.offsetMs = 298_000;
    expect(await open(`${root}/?link=${token}`)).toBe(200);
    bench.clock.offsetMs = 300_000;
    const expired = await bench.page(`${root}/?link=${token}`);
    expect(expired.status).toBe(401);
    expect(expired.body).toContain(`<a href="https://api.example.org/clusters/${cluster}/dashboard">`);
  });
});
