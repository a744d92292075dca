// The explanation of a cluster's state: each sentence, with its facts.
import { describe, expect, it } from 'vitest';

import type { NumberedEvent } from '../../../domain/cluster/history.ts';
import { explainCluster, type ClusterFacts, type DaskFacts } from '../../../domain/cluster/why.ts';

const at = (time: string): number => Date.parse(`2026-11-22T${time}Z`);
const ready = { role: 'worker', state: 'ready' } as const;

const dask: DaskFacts = {
  report: { tasks: { processing: 4, waiting: 9, memory: 0, erred: 0, noWorker: 0 }, clients: 1, adaptiveTarget: null },
  ...{ reportedAtMs: at('10:05:00'), idleSinceMs: null, unresponsiveSinceMs: null, adaptive: null },
  ...{ workersWanted: 2, workersStarted: 2, workersErrored: 0 },
};
const event = (seq: number, code: string, time: string, more: { text?: string; by?: string } = {}): NumberedEvent => ({
  ...{ seq, code, atMs: at(time), text: 'happened', ...more },
});
const adaptive = { minimum: 1, maximum: 10, targetDurationMs: 180_000, waitCount: 24, intervalMs: 5_000 };

const explain = (change: Partial<ClusterFacts> = {}, idleTimeoutMs: number | null = 1_200_000) =>
  explainCluster(
    {
      ...{ status: 'ready', reason: null, job: null, target: 3, instances: [ready, ready, ready], failures: [] },
      ...{ events: [], createdAtMs: at('10:00:00'), readyAtMs: at('10:01:00'), endedAtMs: null, waiting: null, dask },
      ...change,
    },
    idleTimeoutMs,
  );
const texts = (about: string, ...args: Parameters<typeof explain>) =>
  explain(...args).flatMap((sentence) => (sentence.about === about ? [sentence.text] : []));
const needing = (adaptiveTarget: number | null, workersWanted: number): Partial<ClusterFacts> => ({
  dask: {
    ...dask,
    adaptive,
    workersWanted,
    report: { tasks: dask.report?.tasks ?? never(), clients: 1, adaptiveTarget },
  },
});
const withoutWorker = (noWorker: number, workersStarted: number): Partial<ClusterFacts> => ({
  dask: {
    ...dask,
    workersStarted,
    report: {
      ...{ clients: 1, adaptiveTarget: null },
      tasks: { processing: 1, waiting: 0, memory: 0, erred: 0, noWorker },
    },
  },
});
const readyText = 'The cluster is ready: 1 task is processing, 0 wait, 1 client connected.';
const oneHasNone =
  '1 task has no worker that may run it: none of 2 has the resources that were asked for (worker_options), or is one of the workers that were named.';
const never = (): never => {
  throw new Error('the scheduler has reported');
};

describe('why a cluster runs or waits', () => {
  it.each<[string, Partial<ClusterFacts>, string]>([
    [
      'pending',
      { status: 'pending' },
      'The cluster was created at 2026-11-22 10:00:00 UTC; no instance has been launched yet.',
    ],
    ['waiting', { status: 'waiting' }, 'The cluster has not started: no instance has been launched yet.'],
    [
      'starting',
      { status: 'starting', instances: [ready], dask: { ...dask, workersStarted: 0 } },
      'The cluster is starting: 1 of 3 instances have registered, 0 of 2 workers have started.',
    ],
    ['computing', {}, 'The cluster is ready: 4 tasks are processing, 9 wait, 1 client connected.'],
    [
      'idle',
      { dask: { ...dask, idleSinceMs: at('10:30:00') } },
      'The cluster is ready and idle: nothing has been computed since 2026-11-22 10:30:00 UTC; without work it stops at 2026-11-22 10:50:00 UTC.',
    ],
    [
      'unresponsive',
      { dask: { ...dask, unresponsiveSinceMs: at('10:30:00') } },
      'The cluster is ready, but its scheduler has not answered since 2026-11-22 10:30:00 UTC.',
    ],
    [
      'silent so far',
      { dask: { ...dask, report: null } },
      'The cluster is ready; its scheduler has not reported its load yet.',
    ],
    ['a task that no worker may run', withoutWorker(1, 2), `${readyText} ${oneHasNone}`],
    ['tasks while no worker is there', withoutWorker(3, 0), `${readyText} 3 tasks have no worker: none has started.`],
    ["a job's", { job: 7, dask: null }, 'The cluster runs the tasks of job 7, and ends with it.'],
  ])('%s', (_, change, text) => {
    expect(texts('state', change)).toEqual([text]);
  });

  it('says what the start of an open one waits for, which is not its end', () => {
    const reason = { code: 'STARTING', text: 'Admitted; it starts soon.', atMs: at('10:00:00') };
    expect(texts('state', { status: 'pending', reason }).at(-1)).toBe('Admitted; it starts soon.');
    expect(texts('end', { status: 'pending', reason })).toEqual([]);
  });
});

describe('why a cluster ended', () => {
  const failures = [{ code: 'WORKER_FAILED', text: 'TypeError: nthread', count: 3, lastAtMs: at('10:02:00') }];
  const ended = (text: string): Partial<ClusterFacts> => ({
    ...{ status: 'stopped', failures, endedAtMs: at('10:40:00') },
    reason: { code: 'STOPPED', text, atMs: at('10:40:00') },
  });

  it('says what its instances failed with when a user stopped it, and not twice', () => {
    expect(explain(ended('Stopped by ada.')).map(({ text }) => text)).toEqual([
      'The cluster ended at 2026-11-22 10:40:00 UTC: Stopped by ada.',
      'The most frequent failure of its instances, 3 times, is WORKER_FAILED: TypeError: nthread.',
    ]);
    expect(explain(ended('no worker could be started: TypeError: nthread'))).toHaveLength(1);
  });
});

describe('why a cluster is not bigger', () => {
  it.each<[string, Partial<ClusterFacts>, string]>([
    [
      'by its size at the start',
      {},
      'The cluster was asked for 2 workers when it was created, and adaptive scaling is off: only a request changes their number.',
    ],
    [
      'by request, with who asked',
      { events: [event(9, 'SCALE', '10:20:00', { text: 'asked for 3 instances', by: 'ana' })] },
      'The cluster was asked for 2 workers at 2026-11-22 10:20:00 UTC by ana, and adaptive scaling is off: only a request changes their number.',
    ],
    [
      'by load',
      needing(4, 4),
      'Adaptive scaling keeps between 1 and 10 workers: the scheduler needs 4 to finish its known work in 3 minutes, so 4 are wanted.',
    ],
    [
      'by the maximum',
      needing(34, 10),
      'Adaptive scaling keeps between 1 and 10 workers: the scheduler needs 34 to finish its known work in 3 minutes, and the maximum allows no more.',
    ],
    [
      'before scale-in',
      needing(0, 4),
      'Adaptive scaling keeps between 1 and 10 workers: the scheduler needs 0 to finish its known work in 3 minutes. 4 are kept until fewer have been enough for 1 minute 55 seconds.',
    ],
    [
      'before the first report',
      needing(null, 1),
      'Adaptive scaling keeps between 1 and 10 workers; the scheduler has not said yet how many it needs.',
    ],
    [
      'by the tasks of its job',
      {
        job: 7,
        dask: null,
        events: [event(9, 'RELEASED', '10:20:00', { text: '2 instances go: no task waits for them' })],
      },
      'Job 7 needs 3 instances now: 2 instances go: no task waits for them.',
    ],
    [
      'by capacity',
      {
        waiting: {
          ...{ sinceMs: at('10:02:00'), nextTryMs: at('10:03:00'), untilMs: at('11:00:00'), missing: 2 },
          text: '2 of 3 instances are unavailable now',
        },
      },
      'Since 2026-11-22 10:02:00 UTC it waits for capacity: 2 of 3 instances are unavailable now. The next attempt is at 2026-11-22 10:03:00 UTC, until 2026-11-22 11:00:00 UTC at the latest.',
    ],
    [
      'by failures',
      {
        dask: { ...dask, workersErrored: 1 },
        failures: [
          { code: 'SILENT', text: 'silent', count: 1, lastAtMs: 1 },
          { code: 'ENVIRONMENT_FAILED', text: 'no such package.', count: 3, lastAtMs: 2 },
        ],
      },
      '1 worker failed. The most frequent failure of its instances, 3 times, is ENVIRONMENT_FAILED: no such package.',
    ],
  ])('%s', (_, change, text) => {
    expect(texts('size', change)).toContain(text);
  });

  it('rests on numbers and events with their times', () => {
    const size = explain(needing(34, 10)).find(({ about }) => about === 'size');
    expect(size?.facts).toContainEqual({ name: 'maximum', value: 10, atMs: null, events: [] });
    expect(size?.facts).toContainEqual({ name: 'workers needed', value: 34, atMs: at('10:05:00'), events: [] });
  });
});

describe('why a cluster stopped', () => {
  const idle = { code: 'IDLE', text: 'nothing was computed for 20 minutes', atMs: at('11:00:00') };
  const stopped = { ...idle, code: 'STOPPED', text: 'Stopped by ana.', by: 'ana' };

  it.each<[string, Partial<ClusterFacts>, string]>([
    [
      'by rule',
      { status: 'stopped', reason: idle, endedAtMs: at('11:00:09') },
      'The cluster ended at 2026-11-22 11:00:09 UTC: nothing was computed for 20 minutes.',
    ],
    ['while it stops', { status: 'stopping', reason: stopped }, 'The cluster is stopping: Stopped by ana.'],
    [
      'by whom',
      { status: 'stopping', reason: { ...idle, by: 'ana' } },
      'The cluster is stopping: nothing was computed for 20 minutes. ana asked for it.',
    ],
    ['for no known reason', { status: 'error' }, 'The cluster has ended.'],
  ])('%s', (_, change, text) => {
    expect(explain(change).map((sentence) => sentence.text)).toEqual([text]);
  });

  it('rests on the event of its end', () => {
    const events = [
      event(3, 'STOPPED', '10:00:00'),
      event(9, 'STOPPED', '11:00:00'),
      event(11, 'RELEASED', '11:00:00'),
    ];
    expect(explain({ status: 'stopping', reason: stopped, events })[0]?.facts).toEqual([
      { name: 'event STOPPED', value: 'Stopped by ana.', atMs: at('11:00:00'), events: [9] },
      { name: 'by', value: 'ana', atMs: at('11:00:00'), events: [9] },
    ]);
  });
});

describe('the numbers of the events', () => {
  const restsOn = (change: Partial<ClusterFacts>, name: string): number[] | undefined =>
    explain(change)
      .flatMap(({ facts }) => facts)
      .find((fact) => fact.name === name)?.events;
  const created = event(1, 'CREATED', '10:00:00');
  const size = [created, event(4, 'SCALE', '10:01:00'), event(5, 'ADAPT', '10:02:00'), event(7, 'SCALE', '10:03:00')];
  const unresponsive: Partial<ClusterFacts> = { dask: { ...dask, unresponsiveSinceMs: at('10:30:00') } };
  const failures = [{ code: 'SILENT', text: 'silent', count: 30, lastAtMs: at('10:02:00') }];
  const lost = Array.from({ length: 30 }, (_, nth) => event(100 + nth, 'SILENT', '10:02:00'));
  const waiting = { sinceMs: 1, nextTryMs: 2, untilMs: null, missing: 2, text: 'missing' };
  const gpus = { total: 2, idle: 1, sinceMs: at('10:00:00') };

  it.each<[string, Partial<ClusterFacts>, string, number[]]>([
    ['its creation', { status: 'pending', events: size }, 'created', [1]],
    ['the newest request of a size', { status: 'starting', events: size }, 'instances wanted', [7]],
    ['its first readiness', { events: [created, event(6, 'READY', '10:01:00')] }, 'ready', [6]],
    ['the newest range', { ...needing(4, 4), events: size }, 'maximum', [5]],
    ['the creation, for a range from the start', { ...needing(4, 4), events: [created] }, 'minimum', [1]],
    ['none for the report of the scheduler', { ...needing(4, 4), events: size }, 'workers needed', []],
    [
      'silence',
      { ...unresponsive, events: [event(8, 'SCHEDULER_UNRESPONSIVE', '10:31:00')] },
      'unresponsive since',
      [8],
    ],
    [
      'no silence before',
      { ...unresponsive, events: [event(8, 'SCHEDULER_UNRESPONSIVE', '10:29:00')] },
      'unresponsive since',
      [],
    ],
    ['missing capacity', { waiting, events: [event(8, 'WAITING_FOR_CAPACITY', '10:01:00')] }, 'instances missing', [8]],
    ['idle GPUs', { gpus, events: [event(8, 'IDLE_GPU', '10:15:00')] }, 'idle GPUs', [8]],
    ['the newest 20 failures', { failures, events: lost }, 'failure SILENT', lost.slice(10).map(({ seq }) => seq)],
  ])('name %s', (_, change, name, expected) => {
    expect(restsOn(change, name)).toEqual(expected);
  });
});
