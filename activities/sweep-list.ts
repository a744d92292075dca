// Where the provider can act: what carries this deployment's tags.
import type { SweepObservation } from '../domain/sweep/state.ts';
import type { Provider } from '../providers/provider.ts';
import { heartbeating } from './heartbeating.ts';

export interface SweepListActivities {
  listInstances(input: {
    provider: string;
    deploymentId: string;
  }): Promise<{ instances: SweepObservation['instances'] }>;
}

export function createSweepListActivities(deps: { provider: (name: string) => Provider }): SweepListActivities {
  return {
    async listInstances({ provider, deploymentId }) {
      const found = await heartbeating(() => deps.provider(provider).list(deploymentId));
      return { instances: found.map(({ id, owner, launchedAtMs }) => ({ id, owner, launchedAtMs })) };
    },
  };
}
