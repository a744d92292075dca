import { describe, expect, it } from 'vitest';

import { parseBatchHeader } from '../../../domain/batch-header.ts';
import { createJobState } from '../../../domain/job/create.ts';
import { exchange } from '../../../domain/job/exchange.ts';
import { mayRetry, readRetryRules } from '../../../domain/job/retry-rules.ts';
import { resolveJob, type JobInput } from '../../../domain/job/settings.ts';

const ended = (exitCode: number | null, signal: string | null = null) => ({ exitCode, signal });

describe('rules of retries', () => {
  it('name exit codes, ranges and signals', () => {
    const rules = readRetryRules('75, 100-120,signal');
    const retried = [ended(75), ended(100), ended(120), ended(null, 'SIGKILL')];
    expect(retried.map((end) => mayRetry(rules, end))).toEqual([true, true, true, true]);
    expect([ended(1), ended(121), ended(76)].map((end) => mayRetry(rules, end))).toEqual([false, false, false]);
    expect(mayRetry(readRetryRules('1'), ended(null, 'SIGKILL'))).toBe(false);
    expect(mayRetry(undefined, ended(3))).toBe(true);
  });

  it.each(['', '0', '256', '3-2', 'x', '1,', '1;2'])('%j is refused', (text) => {
    expect(() => readRetryRules(text)).toThrow(/retryOnExit/);
  });

  it('decide which failures of a task are tried again', () => {
    const settings = {
      ...{ name: 'j', command: 'x', taskCount: 2, array: '0-1', instances: 1, leaseMs: 90_000, retries: 3 },
      ...{ jobTimeoutMs: null, provider: 'local', providerQueue: 'local/h', instanceVcpus: 1 },
      retryOn: readRetryRules('75'),
    };
    const state = createJobState({ number: 1, workspace: 'w', submittedAtMs: 0 }, settings);
    const end = (claim: number, exitCode: number): void => {
      const say = { instance: 'i', claim, running: [], results: [], head: false };
      const [grant] = exchange(state, { ...say, want: 1 }, 1, (index) => index).grants;
      const { lease = 0, task = 0, attempt = 0 } = grant ?? {};
      const times = { startedAtMs: 1, endedAtMs: 1, reason: null };
      const result = { lease, task, attempt, exitCode, signal: null, ...times };
      exchange(state, { ...say, want: 0, results: [result] }, 1, (index) => index);
    };
    end(1, 75);
    expect([state.counters.retried, state.requeued]).toEqual([1, [0]]);
    end(2, 1);
    expect([state.counters.error, state.requeued]).toEqual([1, []]);
  });
});

describe('options of failures', () => {
  const resolve = (input: Partial<JobInput>, header = '') =>
    resolveJob({ command: ['x'], ...input }, parseBatchHeader(header), { maxInstances: 8 });

  it('are read from fields and from the header', () => {
    expect(resolve({ taskTimeout: '10 minutes', retryOnExit: '1' })).toMatchObject({
      taskTimeoutMs: 600_000,
      retryOn: { exitCodes: [[1, 1]], signals: false },
    });
    const header = '# COILED task-timeout 30s\n# COILED retry-on-exit 75\n# COILED max-retries 2';
    expect(resolve({}, header)).toMatchObject({
      taskTimeoutMs: 30_000,
      retries: 2,
      retryOn: { exitCodes: [[75, 75]], signals: false },
    });
    expect(() => resolve({ taskTimeout: '25 days' })).toThrow(/at most 24 days/);
    expect(resolve({ retryOnExit: '1' }).warnings).toEqual([expect.stringContaining('no effect without retries')]);
    expect(resolve({ retryOnExit: '1', retries: 1 }).warnings).toEqual([]);
    expect(() => resolve({}, '# COILED retry-on-exit no')).toThrow(/^Line 1 of the script: retryOnExit/);
  });
});
