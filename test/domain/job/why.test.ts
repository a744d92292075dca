// The explanation of a job's state: each sentence, with its facts.
import { expect, it } from 'vitest';

import type { NumberedEvent } from '../../../domain/cluster/history.ts';
import { explainJob, type JobCluster, type JobFacts, type JobRules } from '../../../domain/job/why.ts';

const at = (time: string): number => Date.parse(`2026-11-22T${time}Z`);
const ready = { role: 'worker', state: 'ready' } as const;
const tasks = { total: 10, pending: 5, assigned: 1, running: 2, done: 2, error: 0, cancelled: 0 };
const cluster: JobCluster = { instances: [ready, ready, ready], waiting: null, target: 3, failures: [] };

function explain(
  change: Partial<JobFacts> = {},
  own: JobCluster | null = cluster,
  rules: JobRules | null = {},
  events: NumberedEvent[] = [],
) {
  const job: JobFacts = {
    ...{ status: 'running', reason: null, tasks, counters: { lost: 0, retried: 0 }, instances: 3, recentErrors: [] },
    ...{ submittedAtMs: at('10:00:00'), startedAtMs: at('10:01:00'), endedAtMs: null },
    ...change,
  };
  return explainJob(job, own, rules, events);
}
const texts = (...args: Parameters<typeof explain>) => explain(...args).map(({ text }) => text);

it('a running job names its tasks, and what the others wait for', () => {
  expect(texts()).toEqual([
    'The job runs since 2026-11-22 10:01:00 UTC: of 10 tasks 2 are done and 3 run; 5 wait, because an instance runs one task at a time and 3 are ready.',
    "The job has 3 instances, fewer than its 10 tasks: its --max-workers, the %N of its array, or the provider's default allows no more.",
  ]);
});

it('a pending job waits for instances, and says so when it needs all of them', () => {
  const pending = { status: 'pending', startedAtMs: null } as const;
  const since = 'No task has started since the job was submitted at 2026-11-22 10:00:00 UTC';
  expect(texts(pending, { ...cluster, instances: [ready] })[0]).toBe(`${since}: 1 of 3 instances have registered.`);
  const all = 'Its tasks start when all instances are ready.';
  expect(texts(pending, null, { gang: true })[0]).toBe(`${since}: 0 of 3 instances have registered. ${all}`);
});

it('an instance for each task is enough, also when the head instance has tasks of its own', () => {
  const enough = 'one for each task that may run at a time, so that more would have nothing to run.';
  expect(texts({ instances: 10 })).toContain(`The job has 10 instances, ${enough}`);
  expect(texts({ instances: 8 }, cluster, { headTasks: [0, 1, 2] })).toContain(`The job has 8 instances, ${enough}`);
});

it('names what instances ended with most often: such a job has no task that failed', () => {
  const failure = (code: string, count: number) => ({
    code,
    count,
    text: `${code} happened.`,
    lastAtMs: at('10:05:00'),
  });
  const failures = [failure('HOST_FULL', 1), failure('AGENT_FAILED', 4)];
  expect(explain({ status: 'pending', startedAtMs: null }, { ...cluster, instances: [], failures }).at(-1)).toEqual({
    about: 'size',
    text: 'The most frequent failure of its instances, 4 times, is AGENT_FAILED: AGENT_FAILED happened.',
    facts: [{ name: 'failure AGENT_FAILED', value: 4, atMs: at('10:05:00'), events: [] }],
  });
});

it('missing capacity and released instances are named with their time', () => {
  const waiting = {
    sinceMs: at('10:02:00'),
    nextTryMs: at('10:03:00'),
    untilMs: null,
    missing: 1,
    text: '1 of 3 is missing',
  };
  const released = { seq: 8, atMs: at('10:09:00'), code: 'RELEASED', text: '2 instances go: no task waits for them' };
  const found = explain({}, { ...cluster, target: 1, waiting }, {}, [released]);
  expect(found.slice(-2)).toEqual([
    {
      about: 'size',
      text: 'It keeps 1 instance: at 2026-11-22 10:09:00 UTC 2 instances go: no task waits for them.',
      facts: [{ name: 'event RELEASED', value: released.text, atMs: released.atMs, events: [8] }],
    },
    {
      about: 'size',
      text: 'Since 2026-11-22 10:02:00 UTC it waits for capacity: 1 of 3 is missing. The next attempt is at 2026-11-22 10:03:00 UTC.',
      facts: [{ name: 'instances missing', value: 1, atMs: at('10:02:00'), events: [] }],
    },
  ]);
});

it('an ended job says why, with what failed and ran again', () => {
  const reason = { code: 'TASKS_FAILED', text: '1 of 10 tasks failed', atMs: at('11:00:00') };
  const ended = { status: 'error', reason, endedAtMs: at('11:00:00'), tasks: { ...tasks, error: 1 } } as const;
  const recentErrors = [{ attempt: 2, text: 'exit code 3', atMs: at('10:59:00') }];
  expect(texts({ ...ended, counters: { lost: 1, retried: 2 }, recentErrors }, null, null)).toEqual([
    'The job ended at 2026-11-22 11:00:00 UTC: 1 of 10 tasks failed.',
    '1 task failed, 2 attempts failed and ran again, 1 attempt ended with an instance; the newest error is: exit code 3.',
  ]);
  const failures = [
    { code: 'SIGKILL', text: 'signal SIGKILL: out of memory', count: 2, lastAtMs: at('10:59:00') },
    { code: 'EXIT_3', text: 'exit code 3', count: 1, lastAtMs: at('10:58:00') },
  ];
  const found = explain({ ...ended, failures }).find(({ facts }) =>
    facts.some(({ name }) => name === 'failure SIGKILL'),
  );
  expect(found?.text).toContain('The most frequent cause, 2 times, is SIGKILL: signal SIGKILL: out of memory.');
  expect(found?.facts).toContainEqual({ name: 'failure EXIT_3', value: 1, atMs: at('10:58:00'), events: [] });
  const over = { seq: 12, atMs: at('11:00:01'), code: 'JOB_OVER', text: 'job 7 ended' };
  expect(explain(ended, null, null, [over])[0]?.facts[0]).toMatchObject({ name: 'event TASKS_FAILED', events: [12] });
});

it('a running job too shows which attempts failed and ran again, and the reason for which its start waits', () => {
  const reason = { code: 'STARTING', text: 'Admitted; it starts soon.', atMs: at('10:00:00') };
  const found = explain({ reason, counters: { lost: 0, retried: 1 } }).filter(({ about }) => about === 'state');
  expect(found.map(({ text }) => text).slice(1)).toEqual([
    'Admitted; it starts soon.',
    '0 tasks failed, 1 attempt failed and ran again, 0 attempts ended with an instance.',
  ]);
});
