// Concurrent launches of the local provider: a slow start delays no other launch, and starting instances count.
import { spawn } from 'node:child_process';
import { chmod, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { instanceIdOf } from '../../providers/local/launch.ts';
import { createLocalProvider } from '../../providers/local/provider.ts';
import { startTimeOf } from '../../providers/local/processes.ts';
import type { LaunchRequest, Provider } from '../../providers/provider.ts';
import { createBench } from '../agent/harness.ts';
import type { Bench } from '../agent/harness.ts';
import { startAgentApi } from '../support/agent-api.ts';
import type { AgentApi } from '../support/agent-api.ts';

const owner = { deploymentId: 'd_test', workspace: 'default', cluster: 1 };
let bench: Bench;
let api: AgentApi;
beforeEach(async () => {
  bench = await createBench();
  api = await startAgentApi();
});
afterEach(async () => {
  await bench.provider.terminate(
    owner,
    ['slow', 'quick', 'third'].map((token) => instanceIdOf(token, 0)),
    AbortSignal.timeout(30_000),
  );
  await bench.remove();
  await api.close();
});

const requestFor = (token: string): LaunchRequest => ({
  ...{ owner, clusterName: 'job-1', token, apiUrl: api.url, launchToken: api.launchToken },
  slots: [{ slot: 0, generation: 1, role: 'worker' }],
});

/** Its agent of the launch `slow` starts only when `release` is called. */
async function providerWith(maxInstances: number): Promise<{ provider: Provider; release: () => Promise<void> }> {
  const nodePath = join(bench.home, 'node.sh');
  const go = join(bench.home, 'go');
  const wait = `[ "$ROPEWALK_INSTANCE" != ${instanceIdOf('slow', 0)} ] || while [ ! -e ${go} ]; do sleep 0.05; done`;
  await writeFile(nodePath, `#!/bin/sh\n${wait}\nexec ${process.execPath} "$@"\n`);
  await chmod(nodePath, 0o755);
  const provider = createLocalProvider({ ...bench.options, nodePath, maxInstances, environment: process.env });
  return { provider, release: () => writeFile(go, '') };
}

describe('while a launch starts its agent', () => {
  it('another one is answered', async () => {
    const { provider, release } = await providerWith(2);
    let isSlowAnswered = false;
    const slow = provider.launch(requestFor('slow')).finally(() => (isSlowAnswered = true));
    expect((await provider.launch(requestFor('quick'))).launched).toHaveLength(1);
    expect(isSlowAnswered).toBe(false);
    await release();
    expect((await slow).launched).toHaveLength(1);
  });

  it('its place is taken', async () => {
    const { provider, release } = await providerWith(1);
    const slow = provider.launch(requestFor('slow'));
    const full = await provider.launch(requestFor('third'));
    expect(full).toMatchObject({ launched: [], failures: [{ code: 'HOST_FULL' }] });
    await release();
    expect((await slow).launched).toHaveLength(1);
  });
});

it('an instance that has ended with a tombstone is not read again', async () => {
  const { provider } = await providerWith(2);
  const [id = ''] = (await provider.launch(requestFor('quick'))).launched.map((each) => each.id);
  await provider.terminate(owner, [id], AbortSignal.timeout(30_000));
  const states = async (asked: Provider): Promise<string[]> =>
    (await asked.describe(owner, [id])).map(({ state }) => state);
  expect(await states(provider)).toEqual(['gone']);
  // As if its process number had been given to another process that started at the same tick.
  const claim = join(bench.home, 'instances', id, 'claim.json');
  const claimed: object = JSON.parse(await readFile(claim, 'utf8'));
  const other = spawn('sleep', ['1000'], { stdio: 'ignore' });
  try {
    const { pid = 0 } = other;
    await writeFile(claim, JSON.stringify({ ...claimed, pid, startTime: await startTimeOf(pid) }));
    expect(await states(provider)).toEqual(['gone']);
    const fresh = createLocalProvider({ ...bench.options, environment: process.env });
    expect(await states(fresh)).toEqual(['stopping']);
  } finally {
    other.kill('SIGKILL');
  }
});
