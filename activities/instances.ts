// Effects on instances. Each is one idempotent provider call, and safe to repeat after its answer was lost.
import { Context } from '@temporalio/activity';

import type { InstanceActivities } from '../contracts/activities.ts';
import type { DiskSizes, Lifetime } from '../domain/cost/interval.ts';
import type { Owner } from '../domain/owner.ts';
import type { Tokens } from '../platform/tokens.ts';
import type { Provider } from '../providers/provider.ts';
import { heartbeating } from './heartbeating.ts';
import { judgeLaunchError } from './launch-errors.ts';

export interface InstanceDeps {
  provider: (name: string) => Provider;
  tokens: Pick<Tokens, 'mintLaunch'>;
  /** The API's URL for agents. */
  apiUrl: string;
  /** Checks from here whether the API is up. */
  probeApi: () => Promise<boolean>;
}

export function createInstanceActivities(deps: InstanceDeps): InstanceActivities {
  return {
    async launchInstances(input) {
      return heartbeating(async () => {
        const { owner, seq } = input;
        const launchToken = await deps.tokens.mintLaunch({ workspace: owner.workspace, cluster: owner.cluster, seq });
        // The token names the launch, not the attempt, so a second attempt finds the instances of the first.
        const token = `${owner.deploymentId}/${owner.workspace}/${owner.cluster}/${seq}`;
        const request = {
          owner,
          clusterName: input.clusterName,
          token,
          slots: input.slots,
          ...(input.placement === undefined ? {} : { placement: input.placement }),
          apiUrl: deps.apiUrl,
          launchToken,
        };
        try {
          return await deps.provider(input.provider).launch(request);
        } catch (error) {
          throw judgeLaunchError(error, Context.current().info.attempt);
        }
      });
    },

    async inspectInstances(input) {
      return heartbeating(async () => {
        const provider = deps.provider(input.provider);
        const [observed, linkWorks] = await Promise.all([provider.describe(input.owner, input.ids), deps.probeApi()]);
        const seen = input.ids.map((id) => {
          const found = observed.find((instance) => instance.id === id);
          if (found === undefined) return { id, state: 'unknown' as const };
          // A terminating instance will do no more work.
          const gone = found.state === 'gone' || found.state === 'stopping';
          if (!gone) return { id, state: 'alive' as const };
          const why = found.whyEnded === undefined ? {} : { why: found.whyEnded };
          return { id, state: 'gone' as const, wasOrdered: found.wasOrdered === true, ...why };
        });
        return { seen, linkWorks };
      });
    },

    async readCharges(input) {
      return heartbeating(async () => {
        return { charges: (await deps.provider(input.provider).charges?.(input.owner, input.ids)) ?? [] };
      });
    },

    async terminateInstances(input) {
      const signal = Context.current().cancellationSignal;
      return heartbeating(async () => {
        const provider = deps.provider(input.provider);
        await provider.terminate(input.owner, input.ids, signal);
        return { lifetimes: await lifetimesOf(provider, input.owner, input.ids) };
      });
    },

    async terminateRemains(input) {
      const signal = Context.current().cancellationSignal;
      return heartbeating(async () => {
        const provider = deps.provider(input.provider);
        const ids = (await provider.describe(input.owner, [])).map((instance) => instance.id);
        // Runs even when there is no instance to terminate, because a launch without instances leaves its launch template behind.
        await provider.terminate(input.owner, ids, signal);
        await provider.release?.(input.owner, signal);
        return { ids, lifetimes: await lifetimesOf(provider, input.owner, ids, input.diskGib) };
      });
    },
  };
}

/** Only for billing: a cloud that does not answer must not delay the end of instances. */
const lifetimesOf = async (provider: Provider, owner: Owner, ids: string[], diskGib?: DiskSizes): Promise<Lifetime[]> =>
  (await provider.lifetimes?.(owner, ids, diskGib).catch(() => [])) ?? [];
