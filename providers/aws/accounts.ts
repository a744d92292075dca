// Workspaces with an AWS account of their own: their instances are launched there, under a role that grants the control plane
// access. All other workspaces use the control plane's account. A workspace that gets an account keeps its existing resources
// in the old one.
import type { LaunchOutcome, LaunchRequest, Owner, Provider } from '../provider.ts';
import { placementOf } from '../placement.ts';
import { isRevoked } from './assume-role.ts';

export interface AccountOptions {
  /**
   * The resources of an account that revoked its role cannot be listed. `skip`: the sweep continues with the other accounts.
   * `fail`: for commands that must leave nothing behind.
   */
  revoked: 'skip' | 'fail';
}

/** Maps a workspace to the provider of its account. */
export function byWorkspace(
  own: Provider,
  accounts: ReadonlyMap<string, Provider>,
  { revoked }: AccountOptions,
): Provider {
  if (accounts.size === 0) return own;
  const of = ({ workspace }: Pick<Owner, 'workspace'>): Provider => accounts.get(workspace) ?? own;
  const all = [own, ...new Set(accounts.values())];
  /** Instances that were launched before the workspace got its account. */
  const before = async (owner: Owner): Promise<string[]> =>
    of(owner) === own ? [] : (await own.describe(owner, [])).map(({ id }) => id);
  return {
    ...own,
    launch: (request) =>
      of(request.owner)
        .launch(request)
        .catch((error: unknown) => refusedLaunch(request, error)),
    async describe(owner, ids) {
      const here = await of(owner).describe(owner, ids);
      return of(owner) === own ? here : [...here, ...(await own.describe(owner, []))];
    },
    lifetimes: async (owner, ids, diskGib) => (await of(owner).lifetimes?.(owner, ids, diskGib)) ?? [],
    charges: async (owner, ids) => (await of(owner).charges?.(owner, ids)) ?? [],
    list: async (deploymentId) =>
      (await Promise.all(all.map((each) => listed(each.list(deploymentId), revoked)))).flat(),
    async terminate(owner, ids, signal) {
      const earlier = new Set(await before(owner));
      const here = ids.filter((id) => !earlier.has(id));
      const there = ids.filter((id) => earlier.has(id));
      if (there.length > 0) await own.terminate(owner, there, signal);
      await of(owner).terminate(owner, here, signal);
    },
    listResources: async (deploymentId) =>
      (await Promise.all(all.map((each) => listed(each.listResources(deploymentId), revoked)))).flat(),
    async deleteResources(owner, ids, signal) {
      await of(owner).deleteResources(owner, ids, signal);
      if (of(owner) !== own) await own.deleteResources(owner, ids, signal);
    },
    async release(owner, signal) {
      await of(owner).release?.(owner, signal);
      if (of(owner) !== own) await own.release?.(owner, signal);
    },
    logs: (query) => of(query.owner).logs(query),
  };
}

async function listed<T>(list: Promise<T[]>, revoked: AccountOptions['revoked']): Promise<T[]> {
  try {
    return await list;
  } catch (error) {
    if (revoked === 'skip' && isRevoked(error)) return [];
    throw error;
  }
}

/** Without the role, this attempt launched nothing and no retry can. */
function refusedLaunch(request: LaunchRequest, error: unknown): LaunchOutcome {
  if (!isRevoked(error)) throw error;
  const role = request.slots[0]?.role ?? 'head';
  const { types, market } = placementOf(request, role);
  const text = error instanceof Error ? error.message : String(error);
  const where = { offer: types[0] ?? '', zone: '', market };
  return {
    launched: [],
    failures: [{ ...where, code: 'RoleRevoked', scope: 'account', text, count: request.slots.length }],
  };
}
