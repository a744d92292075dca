// An agent whose reports are refused: it reports less, drops the refused parts, and continues; it never spins.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { asBytes } from './as-bytes.ts';
import { jsonBy, createApiClient } from '../../agent/api-client/client.ts';
import type { ApiClient } from '../../agent/api-client/client.ts';
import { exchangeRefused } from '../../agent/job/refusals.ts';
import { createSession } from '../../agent/api-client/session.ts';
import { createReports } from '../../agent/api-client/reports.ts';
import { reportOf, shortened } from '../../agent/dask/scheduler/report.ts';
import { applyAnswer, compose, createAgentState } from '../../agent/job/exchange-state.ts';
import type { TaskResult } from '../../agent/job/exchange-state.ts';
import { maxFlushBytes } from '../../services/group-commit/limits.ts';
import { reportRequest } from '../../schema/agent.ts';
import type { ReportRequest } from '../../schema/agent.ts';
import { startAgentApi } from '../support/agent-api.ts';

// Its pauses are the test's too: fake timers do not cover node:timers/promises.
vi.mock('node:timers/promises', () => ({
  setTimeout: (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms)),
}));

const owner = { deploymentId: 'd', workspace: 'w', cluster: 1 };
const boot = { apiUrl: 'http://x', launchToken: 't', address: '127.0.0.1', cacheDir: '/x', powerOff: null, owner };
const schedulerWith = (names: string[]) =>
  reportOf(
    {
      ...{ kind: 'state', clients: 1, idleSinceMs: null, adaptiveTarget: 2 },
      tasks: { processing: 0, waiting: 0, queued: 0, memory: 0, erred: 0, no_worker: 0 },
      workers: names.map((name) => ({
        ...{ name, address: 'tls://a:1', status: 'running', nthreads: 1 },
        ...{ processing: 0, memoryBytes: 0, managedBytes: 0 },
      })),
    },
    0,
  );
const longNames = (count: number) => Array.from({ length: count }, (_, at) => String(at).padStart(255, 'ä'));

/** An agent whose API refuses these reports, depending on their contents; time is the test's own. */
function agentWith(refuses: (report: ReportRequest) => boolean, isOurs = true) {
  const said: ReportRequest[] = [];
  const taken: ReportRequest[] = [];
  const logged: string[] = [];
  const stopping = new AbortController();
  const call: ApiClient['call'] = async ({ body, read }) => {
    stopping.signal.throwIfAborted();
    const report = reportRequest.parse(body?.());
    said.push(report);
    if (refuses(report)) return { kind: 'refused', text: '/v1/agent/report answered 413', isOurs };
    taken.push(report);
    return { kind: 'answer', answer: read(asBytes({ stop: null, token: null, orders: null })) };
  };
  const log = { write: (text: string) => void logged.push(text) };
  const identity = { instance: 'i_test0000', bootId: 'b'.repeat(32), boot };
  const quiet = { append: () => true, drained: () => Promise.resolve(), close: () => Promise.resolve() };
  const session = createSession({ ...identity, client: { call }, log: { ...log, ...quiet }, stopping });
  const reports = createReports({ ...identity, stopping, session, aliveEveryMs: 3_600_000 });
  return { said, taken, logged, stopping, reports };
}

describe('a report that is not accepted', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());
  const process = { state: 'started', name: 'scheduler', stage: 's', address: null, reason: null } as const;

  it('is sent in parts with fewer workers, at growing intervals, and the agent goes on', async () => {
    const agent = agentWith((report) => JSON.stringify(report).length > 20_000);
    agent.reports.process(process);
    agent.reports.drained({ id: 1, outcome: 'drained' });
    agent.reports.scheduler((refusals) => shortened(schedulerWith(['job-7-worker-1', ...longNames(300)]), refusals));
    const running = agent.reports.run();
    await vi.advanceTimersByTimeAsync(120_000);
    expect(agent.stopping.signal.aborted).toBe(false);
    expect(agent.taken.flatMap((report) => report.process ?? [])).toEqual([process]);
    expect(agent.taken.flatMap((report) => report.drained ?? [])).toEqual([{ id: 1, outcome: 'drained' }]);
    const [scheduler] = agent.taken.flatMap((report) => report.scheduler ?? []);
    expect(scheduler?.workers.length).toBeGreaterThan(10);
    expect(scheduler?.workers[0]?.name).toBe('job-7-worker-1');
    expect(agent.said.length).toBeLessThan(15);
    agent.stopping.abort();
    await vi.advanceTimersByTimeAsync(60_000);
    await running;
  });

  it('in every form is given up with a line in the log; the agent reports the rest, with a bounded number of requests', async () => {
    const agent = agentWith((report) => report.process !== undefined);
    agent.reports.process(process);
    agent.reports.drained({ id: 1, outcome: 'kept' });
    const running = agent.reports.run();
    await vi.advanceTimersByTimeAsync(30_000);
    expect(agent.logged.join()).not.toContain('given up');
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(agent.stopping.signal.aborted).toBe(false);
    expect(agent.logged.join('\n')).toMatch(/given up \(process\).*413/);
    expect(agent.taken.flatMap((report) => report.drained ?? [])).toEqual([{ id: 1, outcome: 'kept' }]);
    expect(agent.said.length).toBeLessThan(15);
    agent.stopping.abort();
    await vi.advanceTimersByTimeAsync(60_000);
    await running;
  });

  it('by a proxy is never given up, however long it lasts', async () => {
    let isRefusing = true;
    const agent = agentWith(() => isRefusing, false);
    agent.reports.process(process);
    agent.reports.drained({ id: 1, outcome: 'kept' });
    const running = agent.reports.run();
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(agent.said.length).toBeGreaterThan(100);
    // In full from time to time: a proxy may refuse a report for its size, or for reasons of its own.
    expect(agent.said.slice(-10).some((report) => report.process !== undefined && report.drained !== undefined)).toBe(
      true,
    );
    isRefusing = false;
    await vi.advanceTimersByTimeAsync(120_000);
    expect(agent.taken.flatMap((report) => report.process ?? [])).toEqual([process]);
    expect(agent.taken.flatMap((report) => report.drained ?? [])).toEqual([{ id: 1, outcome: 'kept' }]);
    agent.stopping.abort();
    await vi.advanceTimersByTimeAsync(60_000);
    await running;
  });

  it('is repeated every half minute when it says only that the agent lives', async () => {
    const agent = agentWith(() => true);
    agent.reports.leave({ code: 'INTERRUPTED', text: 'gone' });
    const running = agent.reports.run();
    await vi.advanceTimersByTimeAsync(600_000);
    expect(agent.said.length).toBeGreaterThan(15);
    expect(agent.said.length).toBeLessThan(30);
    expect(agent.logged).toHaveLength(1);
    expect(agent.stopping.signal.aborted).toBe(false);
    agent.stopping.abort();
    await vi.advanceTimersByTimeAsync(60_000);
    await running;
  });
});

it('an agent that had an instance token does not end when its launch token has expired', async () => {
  const shown: string[] = [];
  const logged: string[] = [];
  let launchIsOld = false;
  const call: ApiClient['call'] = async ({ path, token, read }) => {
    if (path !== '/v1/agent/register')
      return token() === 'held 1' ? { kind: 'unauthenticated' } : { kind: 'answer', answer: read(asBytes({})) };
    shown.push(token());
    if (launchIsOld && token() === 't') return { kind: 'unauthenticated' };
    const cluster = { number: 1, name: 'one', workspace: 'default' };
    const given = { instanceToken: `held ${shown.length}`, expiresAt: '2099-01-01T00:00:00Z', cluster, job: null };
    const rules = { watchdogTimeoutMs: 60_000, instanceCredentials: false };
    return { kind: 'answer', answer: read(asBytes({ ...given, role: 'worker', schedulerAddress: null, ...rules })) };
  };
  const log = {
    write: (text: string) => void logged.push(text),
    ...{ append: () => true, drained: () => Promise.resolve(), close: () => Promise.resolve() },
  };
  const stopping = new AbortController();
  const session = createSession({
    client: { call },
    instance: 'i_test0000',
    bootId: 'b'.repeat(32),
    boot,
    log,
    stopping,
  });
  await session.register();
  launchIsOld = true;
  expect(await session.call({ method: 'GET', path: '/v1/agent/bundle', read: jsonBy(() => 'a bundle') })).toBe(
    'a bundle',
  );
  expect(shown).toEqual(['t', 't', 'held 1']);
  expect(stopping.signal.aborted).toBe(false);
});

it('a scheduler with 2,000 workers of the longest names fits into a report', () => {
  const report = schedulerWith(['mine', ...longNames(2_000)]);
  expect(Buffer.byteLength(JSON.stringify(report))).toBeLessThan(maxFlushBytes);
  expect(report.workers[0]?.name).toBe('mine');
  // In their order, all of them, when they fit.
  expect(schedulerWith(['long name', 'b', 'a']).workers.map(({ name }) => name)).toEqual(['long name', 'b', 'a']);
});

const result = (lease: number): TaskResult => ({
  ...{ lease, task: lease, attempt: 1, exitCode: 0, signal: null, startedAtMs: 0, endedAtMs: 0, reason: null },
});

it('an exchange that is refused because of one result delivers all others, and gives that one up', () => {
  let state = { ...createAgentState(0), unacknowledged: Array.from({ length: 500 }, (_, at) => result(at)) };
  const dropped: number[] = [];
  const delivered = new Set<number>();
  let exchanges = 0;
  for (; state.unacknowledged.length > 0 && exchanges < 1_000; exchanges += 1) {
    const said = compose(state, 0);
    const leases = said.results.map(({ lease }) => lease);
    if (leases.includes(123)) {
      const after = exchangeRefused(state, said, true);
      state = after.state;
      if (after.dropped !== null) dropped.push(after.dropped.lease);
      continue;
    }
    for (const lease of leases) delivered.add(lease);
    const answer = { grants: [], acknowledged: leases, drop: [], stop: null, token: null, retryAfterMs: 0 };
    const more = {
      mayHold: 1,
      renewWithinMs: 1_000,
      taskCount: 1,
      schedulerAddress: null,
      schedulerHostname: null,
      readyWorkers: [],
    };
    state = applyAnswer(state, said, { ...answer, ...more }, { nowMs: 0 }).state;
  }
  expect(dropped).toEqual([123]);
  expect(delivered.size).toBe(499);
  expect(exchanges).toBeLessThan(60);
});

it('after a refusal an exchange still names every finished result, so that none of their tasks runs again', () => {
  const unacknowledged = Array.from({ length: 12 }, (_, at) => result(at));
  const state = { ...createAgentState(0), unacknowledged };
  const refused = exchangeRefused(state, compose(state, 0), false).state;
  const next = compose(refused, 0);
  expect(next.results).toHaveLength(6);
  const named = [...next.results.map(({ lease }) => lease), ...next.running];
  expect(named.toSorted((a, b) => a - b)).toEqual(unacknowledged.map(({ lease }) => lease));
});

it('a result that a proxy refuses is never given up, and holds up no other', () => {
  let state = { ...createAgentState(0), unacknowledged: Array.from({ length: 4 }, (_, at) => result(at)) };
  const delivered = new Set<number>();
  for (let exchanges = 0; exchanges < 30; exchanges += 1) {
    const said = compose(state, 0);
    const leases = said.results.map(({ lease }) => lease);
    if (leases.includes(0)) {
      const after = exchangeRefused(state, said, false);
      expect(after.dropped).toBeNull();
      state = after.state;
      continue;
    }
    for (const lease of leases) delivered.add(lease);
    const answer = { grants: [], acknowledged: leases, drop: [], stop: null, token: null, retryAfterMs: 0 };
    const more = {
      mayHold: 1,
      renewWithinMs: 1_000,
      taskCount: 1,
      schedulerAddress: null,
      schedulerHostname: null,
      readyWorkers: [],
    };
    state = applyAnswer(state, said, { ...answer, ...more }, { nowMs: 0 }).state;
  }
  expect(delivered).toEqual(new Set([1, 2, 3]));
  expect(state.unacknowledged.map(({ lease }) => lease)).toEqual([0]);
});

it('a refusal is no sign of life of the control plane', async () => {
  const api = await startAgentApi();
  try {
    let heard = 0;
    const signal = AbortSignal.timeout(60_000);
    const client = createApiClient({ apiUrl: api.url, signal, onTrouble: () => {}, onHeard: () => void (heard += 1) });
    const ask = () => client.call({ method: 'GET', path: '/v1/x', token: () => 'none', read: jsonBy((json) => json) });
    api.failures.push({ status: 413 });
    expect((await ask()).kind).toBe('refused');
    expect(heard).toBe(0);
    expect((await ask()).kind).toBe('unauthenticated');
    expect(heard).toBe(1);
  } finally {
    await api.close();
  }
});
