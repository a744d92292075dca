// Real agents whose instance cannot prepare a task: they return the task and leave, and record no result of it.
import { readdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { startAgentApi } from '../support/agent-api.ts';
import type { AgentApi } from '../support/agent-api.ts';
import { eventually } from '../support/eventually.ts';
import { createBench, launchAgent, scriptFile } from './harness.ts';
import type { Agent, Bench } from './harness.ts';

let bench: Bench;
let api: AgentApi;
let agent: Agent;
beforeAll(async () => void (bench = await createBench()));
afterAll(() => bench.remove());
afterEach(async () => {
  await agent.terminate();
  await api.close();
});

describe('a file in place of the directory of all tasks', () => {
  const obstruct = async (): Promise<void> => {
    api = await startAgentApi({ command: ['true'] });
    api.answer.mayHold = 3;
    agent = await launchAgent(bench, api);
    await eventually(() => api.exchanges.length > 0);
    await writeFile(join(agent.directory, 'work'), '');
    api.enqueue(0, 1, 2);
  };

  it('costs no task: every lease goes back, the cluster learns the reason, and the agent ends', async () => {
    await obstruct();
    const leaving = await eventually(() => api.reports.find(({ kind }) => kind === 'leaving'));
    expect(leaving.text).toMatch(/^This instance cannot run tasks any more: the task's directory could not be made/);
    const leases = api.exchanges.flatMap(({ running, held = [] }) => [...running, ...held]);
    const returned = new Set(api.exchanges.flatMap((exchange) => exchange.returned ?? []));
    expect(leases.filter((lease) => !returned.has(lease))).toEqual([]);
    expect(returned.size).toBeGreaterThan(0);
    expect(api.exchanges.flatMap(({ running }) => running)).toEqual([]);
    expect(api.results()).toEqual([]);
    await eventually(() => agent.hasEnded());
  });

  it('that is gone again within a second costs nothing at all', async () => {
    await obstruct();
    await eventually(() => api.exchanges.some(({ held = [] }) => held.length > 0));
    await rm(join(agent.directory, 'work'));
    await eventually(() => api.results().length >= 3);
    expect(api.results().every(({ exitCode }) => exitCode === 0)).toBe(true);
    expect(await agent.hasEnded()).toBe(false);
  });
});

it('a file of the job that cannot be written anywhere is the job`s fault, and is recorded', async () => {
  const files = [scriptFile('data', 'x'), scriptFile('data/input.txt', 'y')];
  api = await startAgentApi({ command: ['true'], files });
  api.enqueue(0);
  agent = await launchAgent(bench, api);
  const result = await eventually(() => api.results()[0]);
  expect(result).toMatchObject({ exitCode: 127, reason: expect.stringContaining('data') });
  // Users do not see the paths of the host.
  expect(result.reason).not.toContain(agent.directory);
  expect(await agent.hasEnded()).toBe(false);
});

it('results that the disk does not take are reported before the agent leaves', async () => {
  api = await startAgentApi({ command: ['true'] });
  agent = await launchAgent(bench, api);
  await eventually(() => api.exchanges.length > 0);
  await writeFile(join(agent.directory, 'results'), '');
  api.enqueue(0);
  expect(await eventually(() => api.results()[0])).toMatchObject({ exitCode: 0 });
  const leaving = await eventually(() => api.reports.find(({ kind }) => kind === 'leaving'));
  expect(leaving.text).toContain('its disk takes no results');
  await eventually(() => agent.hasEnded());
  expect(await readdir(agent.directory)).toContain('results');
});
