import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { readSettings } from '../../api/settings.ts';
import { createKeys } from '../../platform/keys.ts';
import { openStore } from '../../store/open.ts';
import { awsFile } from '../providers/aws-cloud.ts';
import { eventually } from '../support/eventually.ts';

const script = fileURLToPath(new URL('../../api/server.ts', import.meta.url));

describe('the API process', () => {
  const children: ChildProcess[] = [];
  const homes: string[] = [];
  afterEach(async () => {
    for (const child of children.splice(0)) if (child.exitCode === null) child.kill('SIGKILL');
    for (const home of homes.splice(0)) await rm(home, { recursive: true, force: true });
  });

  const start = async (
    port: number,
    { hasDatabase = true, more = {} }: { hasDatabase?: boolean; more?: object } = {},
  ) => {
    const home = await mkdtemp(join(tmpdir(), 'ropewalk-api-'));
    homes.push(home);
    const env = {
      ROPEWALK_HOME: home,
      ROPEWALK_PORT: String(port),
      ROPEWALK_HOST_ID: 'host1',
      ROPEWALK_PROVIDERS: 'local',
      TEMPORAL_ADDRESS: '127.0.0.1:1',
      TEMPORAL_CONFIG_FILE: join(home, 'none.toml'),
      ...more,
    };
    if (hasDatabase) await createDatabase(home);
    else await createKeys(join(home, 'keys.json'));
    const child = spawn(process.execPath, [script], { env, stdio: ['ignore', 'pipe', 'pipe'] });
    children.push(child);
    const output = { text: '' };
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output.text += String(chunk)));
    return { child, output, home };
  };

  it('starts while Temporal is unavailable, listens on loopback, and drains on SIGTERM', async () => {
    const { child, output } = await start(0);
    const line = await eventually(() => output.text.split('\n').find((text) => text.includes('"listening"')));
    const { address, port } = JSON.parse(line);
    expect(address).toBe('127.0.0.1');
    const url = `http://127.0.0.1:${port}`;
    expect((await fetch(`${url}/healthz`)).status).toBe(200);
    const ready = fetch(`${url}/readyz`);
    const pending = fetch(`${url}/v1/jobs`, {
      headers: { authorization: `Bearer rw_default_aaaaaaaaaaaa-${'a'.repeat(43)}` },
    });
    await eventually(async () => (await fetch(`${url}/healthz`)).ok);
    child.kill('SIGTERM');
    expect((await pending).status).toBe(401);
    expect(await (await ready).json()).toMatchObject({ status: 'degraded', parts: { temporal: 'unavailable' } });
    const [code] = await once(child, 'exit');
    expect(code).toBe(0);
    expect(output.text).toContain('"ended"');
  });

  it('waits for no mail server when it ends: links to sign in that still wait are given up', async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1');
    await once(silent, 'listening');
    const more = {
      ROPEWALK_SMTP_URL: `smtp://127.0.0.1:${(silent.address() as AddressInfo).port}`,
      ...{ ROPEWALK_MAIL_FROM: 'ropewalk@control.example', ROPEWALK_MAIL_SIGN_IN: 'on', ROPEWALK_DRAIN_SECONDS: '1' },
    };
    try {
      const { child, output, home } = await start(0, { more });
      const names = Array.from({ length: 10 }, (_, nth) => `p${nth}@example.com`);
      await addUsers(home, names);
      const line = await eventually(() => output.text.split('\n').find((text) => text.includes('"listening"')));
      const url = `http://127.0.0.1:${JSON.parse(line).port}/v1/login/mail`;
      const headers = { 'content-type': 'application/json' };
      for (const address of names) {
        const body = JSON.stringify({ address, challenge: 'c'.repeat(43) });
        expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(202);
      }
      await eventually(() => sockets.length === 2);
      child.kill('SIGTERM');
      await eventually(() => output.text.split('could not be sent').length > names.length - 2);
      for (const socket of sockets) socket.destroy();
      expect(await once(child, 'exit')).toEqual([0, null]);
      expect(sockets).toHaveLength(2);
    } finally {
      for (const socket of sockets) socket.destroy();
      silent.close();
    }
  });

  it('says so and fails when its port is taken', async () => {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const address = server.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    try {
      const { child, output } = await start(port);
      const [code] = await once(child, 'exit');
      expect(code).toBe(1);
      expect(output.text).toContain('EADDRINUSE');
    } finally {
      server.close();
    }
  });

  it('says what to do and fails when its database has no tables', async () => {
    const { child, output } = await start(0, { hasDatabase: false });
    expect(await once(child, 'exit')).toEqual([1, null]);
    expect(output.text).toContain('the API cannot use its database');
    expect(output.text).toContain('ropewalk init');
  });

  describe.each([
    ['api/server.ts', { ROPEWALK_PORT: '0' }],
    ['worker.ts', { ROPEWALK_API_URL: 'http://127.0.0.1:9', ROPEWALK_AGENT_BUNDLE: script }],
  ])('%s does not run', (name, more) => {
    let home = '';
    beforeEach(async () => {
      home = await mkdtemp(join(tmpdir(), 'ropewalk-api-'));
      homes.push(home);
      await createDatabase(home);
    });
    const run = async (other: Record<string, string> = {}) => {
      const env = { ROPEWALK_HOME: home, ROPEWALK_HOST_ID: 'host1', ROPEWALK_PROVIDERS: 'local', ...more };
      const temporal = { TEMPORAL_ADDRESS: '127.0.0.1:1', TEMPORAL_CONFIG_FILE: join(home, 'none.toml') };
      const program = fileURLToPath(new URL(`../../${name}`, import.meta.url));
      const child = spawn(process.execPath, [program], {
        env: { ...env, ...temporal, ...other },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      children.push(child);
      let text = '';
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += String(chunk)));
      const [code] = await once(child, 'close');
      return { code, text };
    };

    it('with the home of another deployment: it would lose jobs whose files it cannot see', async () => {
      await writeFile(join(home, 'host.json'), JSON.stringify({ hostId: 'host1', deploymentId: 'd_other' }));
      const { code, text } = await run();
      expect([code, text]).toEqual([
        1,
        expect.stringContaining('which belongs to deployment d_other; the database belongs to deployment d_test'),
      ]);
    });

    it('with the settings of a cloud that were made for another deployment', async () => {
      const file = join(home, 'aws.json');
      await writeFile(file, JSON.stringify({ ...awsFile, deployment: 'd_other' }));
      const { code, text } = await run({ ROPEWALK_PROVIDERS: 'aws', ROPEWALK_AWS_SETTINGS: file });
      expect([code, text]).toEqual([
        2,
        expect.stringContaining('(ROPEWALK_AWS_SETTINGS) are those of deployment d_other; this is deployment d_test'),
      ]);
      expect(text).toContain('ropewalk setup aws --deployment d_test');
    });

    it('without the key file, and creates none', async () => {
      await rm(join(home, 'keys.json'));
      const { code, text } = await run();
      expect([code, text]).toEqual([2, expect.stringContaining(`There is no key file ${home}/keys.json.`)]);
      expect(await readdir(home)).not.toContain('keys.json');
    });

    it('with keys that are not those of the database', async () => {
      const file = { current: 'k1', keys: { k1: Buffer.alloc(32, 1).toString('base64') } };
      await writeFile(join(home, 'keys.json'), JSON.stringify(file));
      const { code, text } = await run();
      expect([code, text]).toEqual([
        1,
        expect.stringContaining('The keys of this process are not those of deployment d_test'),
      ]);
      expect(await readdir(home)).not.toContain('objects');
    });
  });

  it('reports every problem of its environment at once', () => {
    const read = () => readSettings({ ROPEWALK_PORT: '99999', ROPEWALK_PUBLIC_URL: 'nowhere' });
    for (const name of ['ROPEWALK_PORT', 'ROPEWALK_PUBLIC_URL', 'ROPEWALK_HOST_ID']) expect(read).toThrow(name);
  });
});

/** As `ropewalk init` does. */
async function createDatabase(home: string): Promise<void> {
  const store = await openStore({ url: null, file: join(home, 'ropewalk.db'), migrate: true });
  await store.deployment.claim('d_test', Date.now());
  await store.deployment.claimKeys(await createKeys(join(home, 'keys.json')));
  await store.close();
  await writeFile(join(home, 'host.json'), JSON.stringify({ hostId: 'host1', deploymentId: 'd_test' }));
}

async function addUsers(home: string, names: readonly string[]): Promise<void> {
  const store = await openStore({ url: null, file: join(home, 'ropewalk.db'), migrate: false });
  const token = { id: 't', secretHash: 's', expiresAtMs: null };
  await store.workspaces.create({ slug: 'default', admin: { name: 'ada', token }, nowMs: Date.now() });
  for (const name of names) await store.people.putUser('default', { name, role: 'member', by: null }, Date.now());
  await store.close();
}
