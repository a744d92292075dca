// Two deployments on two Temporal servers with a namespace of the same name: no process of one works in the other's namespace.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { findHost } from '../../ops/host.ts';
import { readNamespace } from '../../platform/namespace-claim.ts';
import { runCli } from '../cli/run-cli.ts';
import { makeHome, node24, removeHome } from '../support/stack.ts';
import { startTemporal, type TestTemporal } from '../support/temporal-server.ts';

const namespace = 'shared-name';
const nothing = { none: async () => undefined };
const repository = fileURLToPath(new URL('../../', import.meta.url));
const servers: TestTemporal[] = [];
const homes: string[] = [];

const envOf = (home: number, server: number): Record<string, string> => ({
  ...{ PATH: process.env['PATH'] ?? '', HOME: homes[home] ?? '', ROPEWALK_HOME: homes[home] ?? '' },
  ...{ ROPEWALK_HOST_ID: `host_${home}`, ROPEWALK_PROVIDERS: 'local' },
  ...{ TEMPORAL_ADDRESS: servers[server]?.address ?? '', TEMPORAL_NAMESPACE: namespace },
});

beforeAll(async () => {
  for (const index of [0, 1]) {
    servers.push(await startTemporal({ control: nothing, instances: nothing }));
    homes.push(await makeHome());
    const { code, stderr } = await runCli(['init', '--admin', 'ada'], { env: envOf(index, index) });
    if (code !== 0) throw new Error(stderr);
  }
});
afterAll(async () => {
  for (const server of servers) await server.stop();
  for (const home of homes) await removeHome(home);
});

const idOf = async (home: number): Promise<string> => (await findHost(homes[home] ?? ''))?.deploymentId ?? '';

async function run(program: string, env: Record<string, string>): Promise<{ code: number; text: string }> {
  const more = {
    ROPEWALK_PORT: '0',
    ROPEWALK_API_URL: 'http://127.0.0.1:9',
    ROPEWALK_AGENT_BUNDLE: join(repository, 'worker.ts'),
  };
  const child = spawn(node24, [program], {
    ...{ cwd: repository, stdio: ['ignore', 'pipe', 'pipe'] },
    env: { ...env, ...(program === 'worker.ts' ? more : { ROPEWALK_PORT: '0' }) },
  });
  let text = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (text += String(chunk)));
  const [code] = await once(child, 'close');
  return { code, text };
}

describe.each(['api/server.ts', 'worker.ts'])('%s', (program) => {
  it('ends when the database is another deployment’s, or the Temporal server is', async () => {
    const { code, text } = await run(program, envOf(1, 0));
    expect([code, text]).toEqual([
      expect.any(Number),
      expect.stringContaining('has another namespace shared-name than'),
    ]);
    expect(code).not.toBe(0);
    expect(text).toContain('TEMPORAL_ADDRESS');
    expect(text).toContain(await idOf(1));
    expect(text).not.toContain('worker running');
  });
});

it('a second init on another server changes nothing there, and the doctor names the reason', async () => {
  const { code, stderr } = await runCli(['init'], { env: envOf(0, 1) });
  expect([code, stderr]).toEqual([1, expect.stringContaining('belongs to deployment')]);
  const connection = await Connection.connect({ address: servers[1]?.address ?? '' });
  try {
    const client = new Client({ connection, namespace });
    expect((await readNamespace(client)).owner).toBe(await idOf(1));
    // Unclaimed: only the id of the namespace shows that the open workflows are elsewhere.
    await client.schedule.getHandle('reconcile').delete();
    const again = await runCli(['init'], { env: envOf(0, 1) });
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('has another namespace shared-name than')]);
    expect((await readNamespace(client)).owner).toBeNull();
    const { stdout } = await runCli(['doctor', '--format', 'json'], { env: envOf(0, 1) });
    expect(stdout).toContain('has another namespace shared-name than');
    const own = await runCli(['init'], { env: envOf(1, 1) });
    expect([own.code, own.stdout]).toEqual([0, expect.stringContaining('claimed the namespace for deployment')]);
  } finally {
    await connection.close();
  }
});
