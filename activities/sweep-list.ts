// Runs where the provider can act: lists instances and cloud resources with this deployment's tags, and deletes leftover resources.
import { Context } from '@temporalio/activity';

import type { SweepListActivities } from '../contracts/activities.ts';
import type { Provider } from '../providers/provider.ts';
import { heartbeating } from './heartbeating.ts';

export function createSweepListActivities(deps: { provider: (name: string) => Provider }): SweepListActivities {
  return {
    async listInstances({ provider, deploymentId }) {
      return heartbeating(async () => {
        const cloud = deps.provider(provider);
        const found = await cloud.list(deploymentId);
        const instances = found.map(({ id, owner, launchedAtMs }) => ({ id, owner, launchedAtMs }));
        try {
          return { instances, resources: await cloud.listResources(deploymentId) };
        } catch (error) {
          // An account without permission to list volumes must not prevent the sweep of instances.
          return { instances, resources: [], unlisted: error instanceof Error ? error.message : String(error) };
        }
      });
    },

    async deleteResources({ provider, owner, ids }) {
      const signal = Context.current().cancellationSignal;
      await heartbeating(() => deps.provider(provider).deleteResources(owner, ids, signal));
    },
  };
}
