// Effects on instances. Each is one provider call, idempotent, and safe to repeat after its answer was lost.
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
  /** Where agents find the API. */
  apiUrl: string;
  /** Asks the API whether it is up, from here. */
  probeApi: () => Promise<boolean>;
}

export function createInstanceActivities(deps: InstanceDeps): InstanceActivities {
  return {
    async launchInstances(input) {
      return heartbeating(async () => {
        const { owner, seq } = input;
        const launchToken = await deps.tokens.mintLaunch({ workspace: owner.workspace, cluster: owner.cluster, seq });
        // The token names the launch, not the try: a second try finds what the first one made.
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
          // An instance that is on its way out will do no more work for us.
          const gone = found.state === 'gone' || found.state === 'stopping';
          if (!gone) return { id, state: 'alive' as const };
          const why = found.whyEnded === undefined ? {} : { why: found.whyEnded };
          return { id, state: 'gone' as const, wasOrdered: found.wasOrdered === true, ...why };
        });
        return { seen, linkWorks };
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
        // Also with nothing to end: launches that got no instance have left what they were prepared with.
        await provider.terminate(input.owner, ids, signal);
        await provider.release?.(input.owner, signal);
        return { ids, lifetimes: await lifetimesOf(provider, input.owner, ids, input.diskGib) };
      });
    },
  };
}

/** Only for the account: a cloud that does not answer must not keep instances from counting as gone. */
const lifetimesOf = async (provider: Provider, owner: Owner, ids: string[], diskGib?: DiskSizes): Promise<Lifetime[]> =>
  (await provider.lifetimes?.(owner, ids, diskGib).catch(() => [])) ?? [];
