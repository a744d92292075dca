// Real agents without their control plane: they end with all processes that they started, unless it recovers or they slept.
import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';

import { watchdogExitCode } from '../../agent/lifecycle/watchdog-timer.ts';
import { powerOff } from '../../agent/lifecycle/power-off.ts';
import { isSameProcess, startTimeOf } from '../../providers/local/processes.ts';
import { startAgentApi } from '../support/agent-api.ts';
import type { AgentApi } from '../support/agent-api.ts';
import { eventually } from '../support/eventually.ts';
import { createBench, fileText, launchAgent } from './harness.ts';
import type { Agent, Bench } from './harness.ts';

const limitMs = 3_000;

let bench: Bench;
let scratch: string;
let api: AgentApi;
let agent: Agent;

beforeAll(async () => {
  bench = await createBench();
});
afterAll(() => bench.remove());
beforeEach(async () => {
  scratch = await mkdtemp(join(tmpdir(), 'ropewalk-watchdog-'));
});
afterEach(async () => {
  await agent.terminate();
  await api.close();
  await rm(scratch, { recursive: true, force: true });
});

/** An agent with one task that ends on request, and a grandchild of it that ends by KILL alone, outside of its group. */
async function start(): Promise<{ hasWork: () => Promise<boolean> }> {
  const stay = 'echo $$ > "$1/$2"; trap "" TERM HUP INT; while [ ! -e "$1/go" ]; do sleep 0.1; done';
  const script = `setsid sh -c '${stay}' sh "$1" outside & sh -c '${stay}' sh "$1" inside`;
  api = await startAgentApi({ command: ['sh', '-c', script, 'sh', scratch] });
  api.registration.watchdogTimeoutMs = limitMs;
  api.answer.renewWithinMs = 500;
  api.enqueue(0);
  agent = await launchAgent(bench, api);
  const pids = await Promise.all(
    ['inside', 'outside'].map(async (name) => Number(await fileText(join(scratch, name)))),
  );
  const work = await Promise.all(pids.map(async (pid) => ({ pid, startTime: (await startTimeOf(pid)) ?? 'never' })));
  return { hasWork: async () => (await Promise.all(work.map(isSameProcess))).includes(true) };
}

const said = async (): Promise<string> => (await agent.lines()).map((line) => line.text).join('\n');

it('ends with its task and the orphaned processes when the control plane stops answering', async () => {
  const { hasWork } = await start();
  await api.close();
  await eventually(() => agent.hasEnded());
  expect(await hasWork()).toBe(false);
  expect(await said()).toMatch(/This agent has had no answer for 3 s: .*\(WATCHDOG\)/);
  expect(await said()).toContain('orphaned processes were killed');
});

it('keeps the results that were not acknowledged', async () => {
  await start();
  api.acknowledges = false;
  await writeFile(join(scratch, 'go'), '');
  await eventually(() => api.results().length > 0);
  await api.close();
  await eventually(() => agent.hasEnded());
  expect(await readdir(join(agent.directory, 'results'))).toEqual(['1.jsonl']);
});

it('goes on when the control plane is back in time', async () => {
  const { hasWork } = await start();
  for (let outage = 0; outage < 3; outage += 1) {
    const closedAtMs = performance.now();
    await api.close();
    // Together the outages are longer than the limit.
    await eventually(() => performance.now() - closedAtMs > limitMs / 2);
    await api.open();
    const heard = api.exchanges.length;
    await eventually(() => api.exchanges.length > heard);
  }
  expect([await agent.hasEnded(), await hasWork()]).toEqual([false, true]);
  expect(api.registrations).toHaveLength(1);
});

it('treats SIGSTOP as sleep, also when it wakes up while the control plane does not answer', async () => {
  const { hasWork } = await start();
  await api.close();
  process.kill(agent.pid, 'SIGSTOP');
  const stoppedAtMs = performance.now();
  await eventually(() => performance.now() - stoppedAtMs > limitMs * 1.5);
  process.kill(agent.pid, 'SIGCONT');
  await eventually(async () => (await said()).includes('slept'));
  await api.open();
  const heard = api.exchanges.length;
  await eventually(() => api.exchanges.length > heard);
  expect([await agent.hasEnded(), await hasWork()]).toEqual([false, true]);
});

it('takes no answer of a proxy for one of the control plane', async () => {
  const { hasWork } = await start();
  for (let at = 0; at < 10_000; at += 1) api.failures.push({ status: at % 2 === 0 ? 502 : 200 });
  await eventually(() => agent.hasEnded());
  expect(await hasWork()).toBe(false);
});

it('powers a machine off by argv alone, and logs when that fails', async () => {
  const logged: string[] = [];
  const log = { write: (text: string) => void logged.push(text) };
  await powerOff(null, log);
  expect(logged).toEqual([]);
  await powerOff(['mkdir', join(scratch, 'off; touch x')], log);
  expect(await readdir(scratch)).toEqual(['off; touch x']);
  await powerOff(['false'], log);
  expect(logged.join('\n')).toContain('could not be powered off');
  expect(watchdogExitCode).toBe(3);
});
