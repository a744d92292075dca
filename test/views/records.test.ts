// The final view of a cluster that never wrote one: its workflow was terminated and its history deleted.
import { describe, expect, it } from 'vitest';

import type { ClusterView } from '../../contracts/cluster.ts';
import type { JobView } from '../../contracts/job.ts';
import { clusterOfRecord, endedCluster } from '../../views/cluster.ts';
import { endedJob, jobOfRecord } from '../../views/job.ts';
import { aRecord, clusterSpecOf, jobSpec } from '../builders/records.ts';

const gone = (job: number | null, spec: Parameters<typeof clusterOfRecord>[1], privateToCreator = false): ClusterView =>
  endedCluster(clusterOfRecord({ ...aRecord<ClusterView>(7), job, privateToCreator }, spec), 'it is gone', 9_000);

describe('a cluster that was ended from outside, unseen', () => {
  it.each([true, false])('stays as private as its row says: %s', (isPrivate) => {
    expect(gone(null, clusterSpecOf({ noClientTimeoutMs: 5_000 }), isPrivate)).toMatchObject({
      status: 'error',
      reason: { code: 'ENDED_FROM_OUTSIDE', text: 'it is gone' },
      endedAtMs: 9_000,
      target: 3,
      dask: { privateToCreator: isPrivate, noClientTimeoutMs: 5_000, workersWanted: 2, caRef: 'ca' },
    });
  });

  it('has a view also when its specification is gone', () => {
    expect(gone(null, null)).toMatchObject({ provider: '', dask: { workersWanted: 2, caRef: '' } });
  });

  it('has no Dask when it ran the tasks of a job', () => {
    expect(gone(7, jobSpec)).toMatchObject({ job: 7, provider: 'local', dask: null });
  });
});

it('a job that was ended from outside, unseen, has cancelled all its tasks', () => {
  const view = endedJob(jobOfRecord(aRecord<JobView>(7), jobSpec), 'it is gone', 9_000);
  expect(view).toMatchObject({
    status: 'error',
    tasks: { total: 4, cancelled: 4, pending: 0, running: 0 },
    array: '0-3',
    command: 'sleep 1',
    endedAtMs: 9_000,
  });
});

describe('the reason of a row without a view', () => {
  it('says that the workflow starts later until it has started', () => {
    const admitted = { ...aRecord<JobView>(7), state: 'admitted' as const };
    expect(jobOfRecord(admitted, jobSpec).reason).toMatchObject({ code: 'STARTING' });
    expect(jobOfRecord({ ...admitted, state: 'open' }, jobSpec)).toMatchObject({ status: 'pending', reason: null });
  });
});
