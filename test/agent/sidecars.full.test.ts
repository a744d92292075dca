// Sidecars of a job in real containers of podman: a real head instance runs them beside its tasks, and none outlives it.
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import type { Bundle } from '../../schema/agent.ts';
import { startAgentApi } from '../support/agent-api.ts';
import type { AgentApi } from '../support/agent-api.ts';
import { containersOf, hasPodman, importImage, podman, podmanConfiguration } from '../support/container-image.ts';
import { eventually } from '../support/eventually.ts';
import { createBench, launchAgent } from './harness.ts';
import type { Agent, Bench } from './harness.ts';

const seconds = { timeoutMs: 60_000 };
const image = 'localhost/ropewalk-sidecar:test';
const task = ['bash', '-c', 'echo running; sleep 1000'];
const sidecar = (command: string) => ({
  ...{ name: 'beat', command: ['bash', '-c', command], env: { TEXT: 'two words' } },
  container: { image, ignoreEntrypoint: false, registryAuth: {} },
});

describe.runIf(await hasPodman())('a sidecar', () => {
  let bench: Bench;
  let place: string;
  let configuration: string;
  let api: AgentApi;
  let agent: Agent;

  beforeAll(async () => {
    place = await mkdtemp(join(tmpdir(), 'ropewalk-sidecars-'));
    configuration = await podmanConfiguration(place);
    // Agents receive it from their provider, which reads it when it is created.
    process.env['CONTAINERS_CONF'] = configuration;
    bench = await createBench();
    await importImage(configuration, image, { programs: ['/bin/bash', '/bin/sleep'] });
  });
  afterAll(async () => {
    delete process.env['CONTAINERS_CONF'];
    await podman(configuration, 'rmi', '--force', image);
    await bench.remove();
    await rm(place, { recursive: true });
  });
  afterEach(async () => {
    await agent.terminate();
    const left = await containersOf(configuration, agent.id);
    if (left.length > 0) throw new Error(`${left.length} containers are left`);
    await api.close();
  });

  async function launch(bundle: Partial<Bundle>, role: 'head' | 'worker'): Promise<void> {
    api = await startAgentApi(bundle);
    api.registration.role = role;
    agent = await launchAgent(bench, api);
    api.enqueue(0);
    await eventually(async () => (await textsOf({ tasks: new Set([0]) })).includes('running'), seconds);
  }
  const textsOf = async (query: Parameters<Agent['lines']>[0]): Promise<string[]> =>
    (await agent.lines(query)).map(({ text }) => text);

  it('runs beside the tasks of the head instance until the instance ends', async () => {
    const beat = 'while :; do echo "$TEXT"; sleep 0.2 & wait; done';
    await launch({ command: task, sidecars: [sidecar(beat)] }, 'head');
    // The engine that creates the container may be slower than the first task.
    await eventually(async () => (await containersOf(configuration, agent.id)).length === 1, seconds);
    await eventually(async () => (await textsOf({})).includes('[beat] two words'), seconds);
  });

  it('that ends by itself ends the work of its instance, which leaves with the reason', async () => {
    await launch({ command: task, sidecars: [sidecar('sleep 3; echo bye; exit 3')] }, 'head');
    const leaving = await eventually(() => api.reports.find(({ kind }) => kind === 'leaving'), seconds);
    expect(leaving.text).toContain(
      'The sidecar beat ended with exit code 3 while the job was running. Its last lines: bye',
    );
    expect(await containersOf(configuration, agent.id)).toEqual([]);
  });

  it('runs on no other instance', async () => {
    await launch({ command: task, sidecars: [sidecar('exit 3')] }, 'worker');
    expect(api.reports.filter(({ kind }) => kind === 'leaving')).toEqual([]);
    expect(await containersOf(configuration, agent.id)).toEqual([]);
  });
});
