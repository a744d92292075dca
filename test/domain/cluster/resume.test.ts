// Effects that the next run of a cluster's workflow repeats, because the previous run got no answer.
import { expect, it } from 'vitest';

import { applyLaunch, applyReport } from '../../../domain/cluster/apply.ts';
import { createClusterState } from '../../../domain/cluster/create.ts';
import { suspectInstances } from '../../../domain/cluster/instance/inspect.ts';
import { type Decision, intend, planCluster } from '../../../domain/cluster/plan.ts';
import { scaleCluster } from '../../../domain/cluster/requests.ts';
import { decisionsToResume, inspectAgain } from '../../../domain/cluster/resume.ts';
import type { ClusterState } from '../../../domain/cluster/state.ts';

const registerTimeoutMs = 120_000;

/** Four instances, of which this many have registered. */
function started(registered: number): ClusterState {
  const settings = {
    ...{ name: 'c', job: 7, instances: 4, provider: 'local', providerQueue: 'local/a', instanceVcpus: 1 },
    ...{ registerTimeoutMs, dask: null },
  };
  const state = createClusterState({ number: 7, workspace: 'default', user: 'u', createdAtMs: 0 }, settings);
  begin(state, 0);
  const launched = [0, 1, 2, 3].map((slot) => ({ id: `i-${slot}`, slot, offer: 'local', zone: 'here' }));
  applyLaunch(state, 1, { launched, failures: [] }, 0);
  for (const { id } of launched.slice(0, registered)) {
    applyReport(state, { instance: id, bootId: id, kind: 'register', address: 'a' }, 0);
  }
  return state;
}

function begin(state: ClusterState, nowMs: number): Decision[] {
  const { decisions } = planCluster(state, nowMs);
  for (const decision of decisions) intend(state, decision, nowMs);
  return decisions;
}

it('is each termination, with the instances of its request, unless it is under way', () => {
  const state = started(4);
  scaleCluster(state, 3, 1);
  const first = begin(state, 1);
  scaleCluster(state, 1, 2);
  const second = begin(state, 2);
  expect([...first, ...second].map(({ kind }) => kind)).toEqual(['terminate', 'terminate']);
  expect(decisionsToResume(state, [...first, ...second])).toEqual([]);
  expect(decisionsToResume(state, first)).toEqual(second);
  expect(decisionsToResume(state, [])).toEqual([...second, ...first]);
});

it('is a launch whose outcome is unknown, under its number', () => {
  const state = started(4);
  scaleCluster(state, 5, 1);
  const launches = begin(state, 1);
  expect(launches).toMatchObject([{ kind: 'launch', seq: 2 }]);
  expect(decisionsToResume(state, launches)).toEqual([]);
  expect(decisionsToResume(state, [])).toEqual(launches);
});

it('is the inspection of an instance that is suspected, or has not registered in time', () => {
  const state = started(3);
  suspectInstances(state, [{ instance: 'i-1', heardAtMs: 0 }], registerTimeoutMs);
  const inspections = begin(state, registerTimeoutMs);
  expect(inspections).toEqual([{ kind: 'inspect', ids: ['i-1', 'i-3'] }]);
  expect(begin(state, registerTimeoutMs)).toEqual([]);
  inspectAgain(state);
  expect(begin(state, registerTimeoutMs)).toEqual(inspections);
});
