// Launch requests of provider tests.
import type { LaunchRequest, Owner, Placement } from '../../providers/provider.ts';

let owners = 0;
export const freshOwner = (): Owner => ({ deploymentId: 'd_test', workspace: 'default', cluster: ++owners });

let tokens = 0;

/** `type`: the instance type of head instances, and of workers unless a test sets another. */
export function launchRequestsOf(type: string) {
  const placement = (changes: Partial<Placement> = {}): Placement => ({
    types: [type],
    architecture: 'x86_64',
    market: 'on-demand',
    zones: [],
    diskGib: 30,
    ...changes,
  });
  const workersRequest = (
    owner: Owner,
    instances: number,
    token = `token ${++tokens}`,
    worker: Placement = placement(),
  ): LaunchRequest => {
    const slots = Array.from({ length: instances }, (_, at) => ({
      slot: at + 1,
      generation: 1,
      role: 'worker' as const,
    }));
    return {
      owner,
      clusterName: `cluster-${owner.cluster}`,
      token,
      slots,
      placement: { head: placement(), worker, oneZone: true },
      apiUrl: 'https://ropewalk.example',
      launchToken: 'a launch token',
    };
  };
  return { placement, workersRequest };
}
