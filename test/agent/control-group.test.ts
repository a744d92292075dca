// A daemon that leaves its process group and its session, loses its parents and empties its environment: it ends with its
// instance where the system gives the instance a control group, and outlives it elsewhere.
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';

import { membersOf } from '../../agent/processes/control-group.ts';
import { isGroupOf } from '../../providers/local/control-group.ts';
import { isSameProcess, startTimeOf } from '../../providers/local/processes.ts';
import { startAgentApi } from '../support/agent-api.ts';
import type { AgentApi } from '../support/agent-api.ts';
import { eventually } from '../support/eventually.ts';
import { createBench, fileText, launchAgent } from './harness.ts';
import type { Agent, Bench } from './harness.ts';

let bench: Bench;
let scratch: string;
let api: AgentApi;
let agent: Agent;
beforeAll(async () => void (bench = await createBench()));
afterAll(() => bench.remove());
beforeEach(async () => void (scratch = await mkdtemp(join(tmpdir(), 'ropewalk-daemon-'))));
afterEach(async () => {
  await agent.terminate();
  await api.close();
  await rm(scratch, { recursive: true, force: true });
});

/** An ended task, and the daemon that it left. */
async function startDaemon(watchdogTimeoutMs = 1_800_000) {
  const script = `(setsid env -i sh -c 'trap "" TERM HUP; echo $$ > "$1"; while :; do sleep 1; done' sh "$1" &)
    while [ ! -s "$1" ]; do sleep 0.05; done`;
  api = await startAgentApi({ command: ['sh', '-c', script, 'sh', join(scratch, 'pid')] });
  api.registration.watchdogTimeoutMs = watchdogTimeoutMs;
  api.enqueue(0);
  agent = await launchAgent(bench, api);
  const pid = Number(await fileText(join(scratch, 'pid')));
  const daemon = { pid, startTime: (await startTimeOf(pid)) ?? 'never' };
  await eventually(() => api.results().length > 0);
  const claim: { controlGroup: string | null } = JSON.parse(
    await readFile(join(agent.directory, 'claim.json'), 'utf8'),
  );
  return { daemon, controlGroup: claim.controlGroup };
}

it('ends with its instance, with or without the agent, where there is a control group', async () => {
  const { daemon, controlGroup } = await startDaemon();
  expect(await isSameProcess(daemon)).toBe(true);
  if (controlGroup !== null) expect(membersOf(controlGroup)).toEqual(expect.arrayContaining([agent.pid, daemon.pid]));
  process.kill(agent.pid, 'SIGKILL');
  await eventually(() => agent.hasEnded());
  await agent.terminate();
  const isLeft = await isSameProcess(daemon);
  if (isLeft) process.kill(daemon.pid, 'SIGKILL');
  expect(isLeft).toBe(controlGroup === null);
  expect(controlGroup !== null && existsSync(controlGroup)).toBe(false);
});

it('ends with the agent when the watchdog ends that', async () => {
  const { daemon, controlGroup } = await startDaemon(3_000);
  await api.close();
  await eventually(() => agent.hasEnded());
  if (controlGroup === null) {
    expect(await isSameProcess(daemon)).toBe(true);
    process.kill(daemon.pid, 'SIGKILL');
  }
  // The agent does not wait for the processes that it killed: one may outlive it briefly.
  await eventually(async () => !(await isSameProcess(daemon)));
});

it('a record that a task has rewritten cannot name a control group of another instance', () => {
  expect(isGroupOf('i_1', '/sys/fs/cgroup/unified/ropewalk-i_1')).toBe(true);
  for (const path of ['/sys/fs/cgroup/system.slice', '/sys/fs/cgroup/x/ropewalk-i_2', '/tmp/ropewalk-i_1']) {
    expect(isGroupOf('i_1', path)).toBe(false);
  }
  expect(isGroupOf('i_1', '/sys/fs/cgroup/../../tmp/ropewalk-i_1')).toBe(false);
});
