// A scheduler's state by instance, where instances run several workers or the scheduler's runs one too; and their drains.
import { describe, expect, it } from 'vitest';

import { byInstance, drainOutcomeOf } from '../../agent/dask/scheduler/by-instance.ts';
import { createDrains } from '../../agent/dask/scheduler/drains.ts';
import type { SchedulerLink } from '../../agent/dask/scheduler/link.ts';
import type { SchedulerState } from '../../agent/dask/scheduler/messages.ts';
import type { DrainReport } from '../../agent/api-client/reports.ts';
import { eventually } from '../support/eventually.ts';

const worker = (name: string, more: object = {}) => ({
  ...{ name, address: `tls://127.0.0.1:1`, status: 'running', nthreads: 1 },
  ...{ processing: 0, memoryBytes: 5, managedBytes: 0 },
  ...more,
});
const state = (more: Partial<SchedulerState> = {}): SchedulerState => ({
  tasks: { processing: 0, waiting: 0, queued: 0, memory: 0, erred: 0, no_worker: 0 },
  ...{ kind: 'state', clients: 1, idleSinceMs: 1_000, adaptiveTarget: 2, workers: [], ...more },
});

describe('a scheduler`s state by instance', () => {
  const many = state({
    adaptiveTarget: 6,
    workers: [
      worker('c-worker-1-0', { processing: 2, nthreads: 2 }),
      worker('c-worker-2-1', { processing: 1, nthreads: 2 }),
      worker('c-worker-1-1', { processing: 3, nthreads: 2, status: 'paused' }),
      worker('c-scheduler-worker', { processing: 9 }),
      worker('by-hand-7'),
    ],
  });

  it('is the same where each instance has one worker', () => {
    const extra = null;
    expect(byInstance(many, { workersPerInstance: 1, extra })).toBe(many);
    expect(byInstance(null, { workersPerInstance: 3, extra })).toBeNull();
  });

  it('puts the workers of one instance together, and leaves the scheduler`s own out', () => {
    const seen = byInstance(many, { workersPerInstance: 2, extra: 'c-scheduler-worker' });
    expect(seen?.workers).toEqual([
      worker('c-worker-1', { processing: 5, nthreads: 4, status: 'paused', memoryBytes: 10 }),
      worker('c-worker-2', { processing: 1, nthreads: 2 }),
      worker('by-hand-7'),
    ]);
    // Five of Dask's target of six workers: three instances.
    expect(seen?.adaptiveTarget).toBe(3);
    expect(byInstance(state({ adaptiveTarget: 0 }), { workersPerInstance: 2, extra: 'x' })?.adaptiveTarget).toBe(0);
  });

  it('keeps names that end in a number where instances have one worker', () => {
    const seen = byInstance(many, { workersPerInstance: 1, extra: 'c-scheduler-worker' });
    expect(seen?.workers.map(({ name }) => name)).toEqual([
      'c-worker-1-0',
      'c-worker-2-1',
      'c-worker-1-1',
      'by-hand-7',
    ]);
  });

  it('has the drain of an instance end as the last of its workers can', () => {
    expect(drainOutcomeOf(['drained', 'drained'])).toBe('drained');
    expect(drainOutcomeOf(['drained', 'unknown'])).toBe('drained');
    expect(drainOutcomeOf(['deadline', 'drained'])).toBe('deadline');
    expect(drainOutcomeOf(['deadline', 'kept'])).toBe('kept');
    expect(drainOutcomeOf(['unknown', undefined])).toBe('unknown');
  });
});

it('the drain of an instance with several workers is one of them all, and keeps it for what one of them holds', async () => {
  const reported: DrainReport[] = [];
  const asked: object[] = [];
  const order = async (_kind: string, body: object): Promise<object> => {
    asked.push(body);
    return { workers: { 'a-0': 'drained', 'a-1': 'kept' } };
  };
  // A link whose only order is this one.
  const link: Pick<SchedulerLink, 'order'> = Object.assign(Object.create(null), { order });
  const log = { write: () => {}, append: () => true, drained: async () => {}, close: async () => {} };
  const { signal } = new AbortController();
  const take = createDrains({ link, workersPerInstance: 2, notify: (report) => reported.push(report), log, signal });
  take({ drain: [{ id: 6, worker: 'a', deadlineSeconds: 60 }] });
  await eventually(() => reported.length > 0);
  expect(reported).toEqual([{ id: 6, outcome: 'kept' }]);
  expect(asked).toEqual([expect.objectContaining({ workers: ['a-0', 'a-1'] })]);
});
