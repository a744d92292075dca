// Jupyter beside the scheduler on a real stack: a kernel computes through the relay, only for users who may run code on the cluster.
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebSocket } from 'ws';

import { createClient, type Client } from '../../sdk/client.ts';
import { makeDaskHome } from '../support/dask.ts';
import { eventually } from '../support/eventually.ts';
import { removeHome, startStack, type TestStack } from '../support/stack.ts';

const requirements = ['jupyter-server==2.21.1', 'ipykernel==7.4.0'];

let home: string;
let shared: string;
let stack: TestStack;
let client: Client;
beforeAll(async () => {
  home = await makeDaskHome();
  shared = await mkdtemp(join(tmpdir(), 'ropewalk-jupyter-'));
  stack = await startStack({ home });
  client = createClient({ apiUrl: stack.apiUrl, token: stack.token });
});
afterAll(async () => {
  await stack?.stop();
  await removeHome(home);
  await rm(shared, { recursive: true, force: true });
});

/** The cookie that a browser gets for a link. */
async function signIn(url: string): Promise<string> {
  const cookie = (await fetch(url)).headers.getSetCookie()[0];
  expect(cookie).toMatch(/HttpOnly; SameSite=Strict/);
  return cookie?.split(';')[0] ?? '';
}

it('a kernel computes with the cluster, and keeps it from being idle', async () => {
  const { number } = await client.clusters.create({ workers: 1, jupyter: true, software: { requirements } });
  await client.clusters.waitForWorkers(number, true, { timeoutMs: 170_000 });
  const link = await client.clusters.jupyterLink(number);
  const { origin, pathname } = new URL(link.url);
  expect(pathname).toBe(`/clusters/${number}/jupyter/`);
  const api = `${origin}${pathname}api`;

  // No access without a session, nor with that of the dashboard, which users with read access have.
  expect((await fetch(`${api}/kernels`)).status).toBe(401);
  const dashboard = await signIn((await client.clusters.dashboardLink(number)).url);
  const [, session = ''] = dashboard.split('=');
  for (const cookie of [dashboard, `ropewalk_jupyter=${session}`])
    expect((await fetch(`${api}/kernels`, { headers: { cookie } })).status).toBe(401);
  const reader = await client.tokens.create({ scopes: ['read'] });
  const reading = createClient({ apiUrl: stack.apiUrl, token: reader.token });
  await expect(reading.clusters.jupyterLink(number)).rejects.toMatchObject({ code: 'FORBIDDEN' });
  await expect(reading.clusters.dashboardLink(number)).resolves.toMatchObject({});

  const cookie = await signIn(link.url);
  const start = (headers: Record<string, string>) =>
    fetch(`${api}/kernels`, { method: 'POST', headers: { cookie, ...headers }, body: '{}' });
  expect((await start({})).status).toBe(403);
  expect((await start({ origin: 'http://elsewhere.example' })).status).toBe(403);
  // The agent connects its relay after the scheduler has started.
  await eventually(async () => (await fetch(`${api}/kernels`, { headers: { cookie } })).ok);
  const started = await start({ origin, 'content-type': 'application/json' });
  expect(started.status).toBe(201);
  const { id }: { id: string } = await started.json();
  expect(await (await fetch(`${api}/kernels`, { headers: { cookie } })).json()).toMatchObject([{ id }]);

  const channels = `${api.replace('http', 'ws')}/kernels/${id}/channels?session_id=one`;
  const foreign = new WebSocket(channels, { headers: { cookie, origin: 'http://elsewhere.example' } });
  const [, refusal] = await once(
    foreign.on('error', () => undefined),
    'unexpected-response',
  );
  expect(refusal.statusCode).toBe(403);
  refusal.destroy();
  const socket = new WebSocket(channels, { headers: { cookie, origin } });
  await once(socket, 'open');
  const kernel = kernelOf(socket);
  expect(await kernel.run('1 + 1')).toBe('2');
  // Over TLS, with the certificate of the scheduler's instance.
  expect(await kernel.run('import distributed; client = distributed.Client(); client.scheduler.address[:6]')).toBe(
    "'tls://'",
  );
  expect(await kernel.run('client.submit(sum, [1, 2, 39]).result()')).toBe('42');
  const divide = "client.submit(lambda: 1 / 0, key='divide').exception().__class__.__name__";
  expect(await kernel.run(divide)).toBe("'ZeroDivisionError'");
  await kernel.run('client.close()');
  const usage = await eventually(async () => {
    const found = (await client.clusters.get(number)).dask?.usage;
    return (found?.exceptions?.length ?? 0) > 0 && found;
  });
  expect(usage).toMatchObject({ exceptions: [{ type: 'ZeroDivisionError', count: 1 }] });
  expect(usage.groups?.map(({ name, tasks }) => `${name} ${tasks}`).toSorted()).toEqual(['divide 0', 'sum 1']);

  const idleSince = async () => (await client.clusters.get(number)).dask?.idleSince ?? null;
  const go = join(shared, 'go');
  const busy = kernel.run(`import os, time\nwhile not os.path.exists(${JSON.stringify(go)}): time.sleep(0.05)\n'done'`);
  await eventually(async () => (await idleSince()) === null);
  await writeFile(go, '');
  expect(await busy).toBe("'done'");
  await eventually(idleSince);

  // On the instance itself every process can reach the port, but has no token.
  const port = await dashboardPort(number);
  expect((await fetch(`http://127.0.0.1:${port}/health`)).status).toBe(200);
  expect((await fetch(`http://127.0.0.1:${port}${pathname}api/kernels`)).status).toBe(403);
  expect((await fetch(`http://127.0.0.1:${port}/jupyter/api/kernels`)).status).toBe(404);

  const ended = once(socket, 'close');
  await client.clusters.stop(number);
  await client.clusters.waitForEnd(number, { timeoutMs: 60_000 });
  await ended;
  await expect(client.clusters.jupyterLink(number)).rejects.toMatchObject({ code: 'CONFLICT' });
}, 240_000);

it('an environment without Jupyter is an error that says what to add, and a cluster without it has no link', async () => {
  const { number } = await client.clusters.create({ workers: 0, jupyter: true });
  const failure = await eventually(
    async () => (await client.clusters.get(number)).failures.find(({ code }) => code === 'ENVIRONMENT_FAILED') ?? null,
    { timeoutMs: 90_000 },
  );
  expect(failure.text).toContain('add jupyterlab to it');
  await client.clusters.stop(number);
  const plain = await client.clusters.create({ workers: 0 });
  await client.clusters.waitForScheduler(plain.number, { timeoutMs: 90_000 });
  await expect(client.clusters.jupyterLink(plain.number)).rejects.toMatchObject({
    code: 'CONFLICT',
    message: expect.stringContaining('has no Jupyter server'),
  });
  await client.clusters.stop(plain.number);
  for (const each of [number, plain.number]) await client.clusters.waitForEnd(each, { timeoutMs: 60_000 });
}, 240_000);

/** Runs code as a notebook does, by Jupyter's messages. */
function kernelOf(socket: WebSocket): { run: (code: string) => Promise<string> } {
  let nth = 0;
  return {
    run: (code) => {
      nth += 1;
      const header = {
        msg_id: `m${nth}`,
        session: 'one',
        username: 'ada',
        msg_type: 'execute_request',
        version: '5.3',
        date: '',
      };
      const content = { code, silent: false, store_history: false, user_expressions: {}, allow_stdin: false };
      const { promise, resolve, reject } = Promise.withResolvers<string>();
      let result = '';
      const hear = (data: unknown): void => {
        const message = JSON.parse(String(data));
        if (message.parent_header?.msg_id !== header.msg_id) return;
        if (message.msg_type === 'execute_result') result = message.content.data['text/plain'];
        if (message.msg_type === 'error') reject(new Error(message.content.traceback.join('\n')));
        if (message.msg_type !== 'status' || message.content.execution_state !== 'idle') return;
        socket.off('message', hear);
        resolve(result);
      };
      socket.on('message', hear);
      socket.send(JSON.stringify({ header, parent_header: {}, metadata: {}, content, buffers: [], channel: 'shell' }));
      return promise;
    },
  };
}

async function dashboardPort(number: number): Promise<string> {
  for await (const { text } of client.clusters.logs(number)) {
    const [, port] = /dashboard at:\s+http:\/\/127\.0\.0\.1:(\d+)/.exec(text) ?? [];
    if (port !== undefined) return port;
  }
  throw new Error('the scheduler named no port');
}
