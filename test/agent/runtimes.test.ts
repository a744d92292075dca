// The runtimes of a specification: the environment of their commands, and real agents that run tasks and Dask processes in them.
import { mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { environment } from '../builders/environment.ts';
import { environmentRuntime } from '../../agent/runtimes/environment/runtime.ts';
import { hostRuntime } from '../../agent/runtimes/host/runtime.ts';
import { startAgentApi } from '../support/agent-api.ts';
import type { AgentApi } from '../support/agent-api.ts';
import { createDaskApi } from '../support/dask-api.ts';
import { eventually } from '../support/eventually.ts';
import { createBench, launchAgent } from './harness.ts';
import type { Agent, Bench } from './harness.ts';

/** Shared by runs: building an environment takes longer than these tests. */
const cacheDir = fileURLToPath(new URL('../../node_modules/.cache/ropewalk/agent-cache', import.meta.url));

describe('the variables of a command', () => {
  const inherited = { PATH: '/usr/bin', HOME: undefined };
  const own = { PATH: '/mine', VIRTUAL_ENV: '/laptop/venv', NAME: 'value' };

  it('on the host are the inherited ones, and the own ones win', () => {
    expect(hostRuntime(null).variables(inherited, {})).toEqual({ PATH: '/usr/bin' });
    expect(hostRuntime(null).variables(inherited, own)).toEqual(own);
  });

  it('in an environment find its programs first, unless the specification has a PATH of its own', () => {
    const { python, variables } = environmentRuntime({
      directory: '/envs/one',
      leftOut: null,
      modules: null,
      user: null,
    });
    expect(python).toBe('/envs/one/bin/python');
    expect(variables(inherited, {})).toEqual({ PATH: '/envs/one/bin:/usr/bin', VIRTUAL_ENV: '/envs/one' });
    expect(variables(inherited, own)).toEqual({ PATH: '/mine', VIRTUAL_ENV: '/envs/one', NAME: 'value' });
    expect(variables({}, {})['PATH']).toBe('/envs/one/bin');
    const withModules = environmentRuntime({
      directory: '/envs/one',
      leftOut: null,
      modules: '/envs/two/m',
      user: null,
    });
    expect(withModules.variables({}, {})['ROPEWALK_MODULES']).toBe('/envs/two/m');
  });
});

describe('an agent', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await createBench();
    await mkdir(cacheDir, { recursive: true });
    await symlink(cacheDir, join(bench.home, 'cache'));
  });
  afterAll(() => bench.remove());

  async function withAgent(api: AgentApi, use: (agent: Agent) => Promise<void>): Promise<void> {
    const agent = await launchAgent(bench, api);
    try {
      await use(agent);
    } finally {
      await agent.terminate();
      await api.close();
    }
  }

  it('runs a task in an environment of its requirements', async () => {
    const show = 'import sys, cloudpickle; print(sys.prefix); print(cloudpickle.__version__)';
    const runtime = { kind: 'environment' as const, ...environment(['cloudpickle==3.1.2']) };
    const api = await startAgentApi({ runtime, command: ['python3', '-c', show] });
    api.enqueue(0);
    await withAgent(api, async (agent) => {
      const result = await eventually(() => api.results()[0], { timeoutMs: 60_000 });
      const lines = (await agent.lines({ tasks: new Set([0]) })).map(({ text }) => text);
      expect({ exitCode: result.exitCode, lines }).toMatchObject({
        exitCode: 0,
        lines: [expect.stringMatching(/\/environments\/[0-9a-f]{64}$/), '3.1.2'],
      });
    });
  });

  it('leaves a job whose environment cannot be made, and says why without a password', async () => {
    const requirements = ['cloudpickle @ https://ada:hunter2@127.0.0.1:9/x.whl'];
    const api = await startAgentApi({ runtime: { kind: 'environment', ...environment(requirements) } });
    api.enqueue(0);
    await withAgent(api, async (agent) => {
      const leaving = await eventually(() => api.reports.find(({ kind }) => kind === 'leaving'), {
        timeoutMs: 60_000,
      });
      expect(leaving.text).toContain("The job's runtime is unavailable");
      expect(leaving.text).not.toContain('hunter2');
      expect(api.exchanges).toEqual([]);
      await eventually(() => agent.hasEnded());
    });
  });

  it('runs the host setup script once, before its first task, and shows what it prints', async () => {
    const hostSetupScript = 'echo "set up with $MODE"\necho line >> ../set-up.txt\n';
    const command = ['cat', '../../set-up.txt'];
    const api = await startAgentApi({ hostSetupScript, command, env: { MODE: 'care' } });
    api.enqueue(0, 1);
    await withAgent(api, async (agent) => {
      await eventually(() => api.results().length >= 2);
      const lines = (await agent.lines()).filter(({ stream }) => stream === 'stdout').map(({ text }) => text);
      expect(lines.toSorted()).toEqual(['line', 'line', 'set up with care']);
      expect((await agent.lines()).some(({ text }) => text.startsWith('The host setup script is done'))).toBe(true);
    });
  });

  it('leaves with the reason when the host setup script fails, and takes no task', async () => {
    const hostSetupScript = '#!/bin/sh\necho "no such driver" >&2\nexit 3\n';
    const api = await startAgentApi({ hostSetupScript });
    api.enqueue(0);
    await withAgent(api, async (agent) => {
      const leaving = await eventually(() => api.reports.find(({ kind }) => kind === 'leaving'));
      expect(leaving.text).toMatch(
        /^The host setup script ended with exit code 3 after .* Its last lines: no such driver/,
      );
      expect(api.exchanges).toEqual([]);
      await eventually(() => agent.hasEnded());
    });
    api.dask = await createDaskApi({ hostSetupScript });
    await api.open();
    await withAgent(api, async () => {
      const failed = await eventually(() => api.reports.find(({ process }) => process?.state === 'error')?.process);
      expect(failed.reason?.code).toBe('HOST_SETUP_FAILED');
    });
  });
});
