// What is archived of a cluster that nobody has seen: its workflow was terminated and its history is gone.
import { describe, expect, it } from 'vitest';

import { endedCluster, unseenCluster } from '../../activities/ended-views.ts';
import type { Holder } from '../../domain/workspace/state.ts';
import type { ClusterSpec } from '../../schema/cluster-spec.ts';

const holder: Holder = {
  number: 7,
  kind: 'cluster',
  name: 'mine',
  admissionId: 'adm_1',
  specRef: 'specs/1',
  user: 'mia',
  instances: 3,
  vcpus: 3,
  reservedAtMs: 1_000,
  state: 'running',
};

const specOf = (privateToCreator: boolean): ClusterSpec => ({
  v: 1,
  workspace: 'default',
  admissionId: 'adm_1',
  user: 'mia',
  bundleRef: 'bundle',
  caRef: 'ca',
  createdAt: new Date(1_000).toISOString(),
  settings: {
    name: 'mine',
    job: null,
    instances: 3,
    provider: 'local',
    providerQueue: 'local/h',
    instanceVcpus: 1,
    registerTimeoutMs: 1,
    dask: {
      idleTimeoutMs: 1,
      noClientTimeoutMs: 5_000,
      startTimeoutMs: 1,
      maxLifetimeMs: null,
      drainTimeoutMs: 1,
      aliveEveryMs: 1,
      unresponsiveTimeoutMs: 1,
      privateToCreator,
    },
  },
});

const archived = (of: Holder, spec: ClusterSpec | null) =>
  endedCluster(unseenCluster('default', of, spec), 'it is gone', 9_000);

describe('a cluster that was ended from outside, unseen', () => {
  it.each([true, false])('stays as private as it was: %s', (isPrivate) => {
    expect(archived(holder, specOf(isPrivate))).toMatchObject({
      status: 'error',
      endedAtMs: 9_000,
      dask: { privateToCreator: isPrivate, noClientTimeoutMs: 5_000, workersWanted: 2, caRef: 'ca' },
    });
  });

  it('is private when nobody can tell any more', () => {
    expect(archived(holder, null).dask?.privateToCreator).toBe(true);
  });

  it('has no Dask when it worked for a job, which says for itself whether it is private', () => {
    expect(archived({ ...holder, kind: 'job' }, null)).toMatchObject({ job: 7, dask: null });
  });
});
