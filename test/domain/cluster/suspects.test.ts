// Suspicions of a thousand instances at once, as after an outage of their network: a view has fifty events, and stays small.
import { expect, it } from 'vitest';

import { applyLaunch, applyReport } from '../../../domain/cluster/apply.ts';
import { createClusterState } from '../../../domain/cluster/create.ts';
import { suspectInstances } from '../../../domain/cluster/instance/inspect.ts';
import { intend, planCluster } from '../../../domain/cluster/plan.ts';

it('an event names ten of a thousand suspected instances, and counts the others', () => {
  const state = createClusterState(
    { number: 7, workspace: 'default', user: 'u', createdAtMs: 0 },
    {
      ...{ name: 'c', job: 7, instances: 1_000, provider: 'local', providerQueue: 'local/a', instanceVcpus: 1 },
      ...{ registerTimeoutMs: 120_000, dask: null },
    },
  );
  const { decisions } = planCluster(state, 0);
  for (const decision of decisions) {
    intend(state, decision, 0);
    if (decision.kind !== 'launch') continue;
    const launched = decision.slots.map(({ slot }) => ({ id: `i-${slot}`, slot, offer: 'local', zone: 'here' }));
    applyLaunch(state, decision.seq, { launched, failures: [] }, 0);
  }
  const ids = state.instances.map(({ id }) => id);
  expect(ids).toHaveLength(1_000);
  for (const id of ids) applyReport(state, { instance: id, bootId: id, kind: 'register', address: 'a' }, 0);
  const suspects = ids.map((instance) => ({ instance, heardAtMs: 0 }));
  suspectInstances(state, suspects, 200_000);
  const texts = state.events.filter(({ code }) => code === 'SUSPECTED').map(({ text }) => text);
  expect(texts).toEqual(['not heard of: i-0, i-1, i-2, i-3, i-4, i-5, i-6, i-7, i-8, i-9 and 990 more']);
});
