// The workers in a Dask cluster's view: wanted, started, and those that will no longer start.
import { expect, it } from 'vitest';

import { applyLaunch, applyReport } from '../../domain/cluster/apply.ts';
import { createClusterState } from '../../domain/cluster/create.ts';
import { intend, planCluster } from '../../domain/cluster/plan.ts';
import { scaleCluster } from '../../domain/cluster/requests.ts';
import type { ClusterState } from '../../domain/cluster/state.ts';
import type { ProcessState } from '../../domain/cluster/statuses.ts';
import type { ClusterInput } from '../../contracts/cluster.ts';
import { viewCluster } from '../../views/cluster.ts';
import { daskClusterSettings } from '../builders/dask-settings.ts';

const input: ClusterInput = {
  ...{ number: 1, workspace: 'w', admissionId: 'a', user: 'u', deploymentId: 'd' },
  ...{ settings: null, specRef: null, name: 'simulated' },
};

it('counts no worker before one has started', () => {
  expect(counts(cluster(4))).toEqual([3, 0, 0]);
});

it('counts workers, not the scheduler, once their process has started', () => {
  const state = cluster(4);
  say(state, 0, 'started');
  say(state, 1, 'started');
  say(state, 2, 'starting');
  expect(counts(state)).toEqual([3, 1, 0]);
});

it('counts a slot that was given up as an error', () => {
  const state = cluster(4);
  say(state, 0, 'started');
  say(state, 1, 'started');
  say(state, 2, 'error');
  expect(counts(state)).toEqual([3, 1, 1]);
});

it('does not count an interrupted worker, although it cannot be drained yet', () => {
  const state = cluster(3);
  for (const slot of [1, 2]) say(state, slot, 'started');
  const taken = state.instances.find((instance) => instance.slot === 1);
  const said = { instance: taken?.id ?? '', bootId: taken?.agent?.bootId ?? '', address: 'a' };
  const interruption = { kind: 'terminate', at: new Date(120_000).toISOString() } as const;
  applyReport(state, { ...said, kind: 'alive', interruption }, 10);
  decide(state, 10);
  expect(taken).toMatchObject({ state: 'ready', agent: { drain: null } });
  expect(state.launches.flatMap(({ slots }) => slots)).toEqual([1]);
  expect(counts(state)).toEqual([2, 1, 0]);
});

it('does not count workers that are being terminated', () => {
  const state = cluster(4);
  for (const slot of [0, 1, 2, 3]) say(state, slot, 'started');
  scaleCluster(state, 3, 10);
  decide(state, 10);
  expect(state.instances.filter((instance) => Boolean(instance.agent?.drain))).toHaveLength(1);
  expect(counts(state)).toEqual([2, 2, 0]);
});

it('does not count errors of slots that are no longer wanted', () => {
  const state = cluster(4);
  for (const slot of [0, 1, 2]) say(state, slot, 'started');
  say(state, 3, 'error');
  scaleCluster(state, 3, 10);
  expect(counts(state)).toEqual([2, 2, 0]);
});

it('counts a slot once when another worker has moved into it', () => {
  const state = cluster(4);
  say(state, 0, 'started');
  say(state, 1, 'error');
  for (const slot of [2, 3]) say(state, slot, 'started');
  scaleCluster(state, 3, 10);
  decide(state, 10);
  expect(counts(state)).toEqual([2, 2, 0]);
});

it('says nothing of Dask for a job’s cluster', () => {
  const settings = { ...daskClusterSettings(2), job: 1, dask: null };
  const state = createClusterState({ number: 1, workspace: 'w', user: 'u', createdAtMs: 0 }, settings);
  expect(viewCluster(state, input).dask).toBeNull();
});

/** Wanted, started, errored. */
function counts(state: ClusterState): (number | undefined)[] {
  const { dask } = viewCluster(state, input);
  return [dask?.workersWanted, dask?.workersStarted, dask?.workersErrored];
}

/** All its instances have registered. */
function cluster(instances: number): ClusterState {
  const state = createClusterState(
    { number: 1, workspace: 'w', user: 'u', createdAtMs: 0 },
    daskClusterSettings(instances),
  );
  decide(state, 0);
  const slots = Array.from({ length: instances }, (_, slot) => slot);
  const launched = slots.map((slot) => ({ id: `i_${slot}`, slot, offer: 'local', zone: 'here' }));
  applyLaunch(state, 1, { launched, failures: [] }, 0);
  for (const { id } of launched) {
    applyReport(state, { instance: id, bootId: id, kind: 'register', address: 'a' }, 0);
  }
  return state;
}

function decide(state: ClusterState, nowMs: number): void {
  for (const decision of planCluster(state, nowMs).decisions) intend(state, decision, nowMs);
}

/** An instance, named after the slot it was launched for, reports its process; an error is one of its environment. */
function say(state: ClusterState, slot: number, process: ProcessState): void {
  const reason = process === 'error' ? { code: 'ENVIRONMENT_FAILED', text: 'no such package' } : null;
  const reported = { state: process, name: `p-${slot}`, stage: 'dask', address: `tls://${slot}`, reason };
  const report = { instance: `i_${slot}`, bootId: `i_${slot}`, kind: 'alive' as const, address: 'a' };
  applyReport(state, { ...report, process: reported }, 1);
}
