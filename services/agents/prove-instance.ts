// A cloud instance proves its id with the identity document that the cloud signs; with the launch token alone, every reader of that token could
// register. The format of an id determines the provider that verifies it. A returning instance presents a token that it received after this proof, so
// its document may be of any age.
import { RopewalkError } from '../../domain/errors.ts';
import { launchTokenTtlMs } from '../../domain/tokens/limits.ts';
import type { RegisterRequest } from '../../schema/agent.ts';
import type { Deps } from '../context.ts';

export async function proveInstance(
  { providers, now, deploymentId }: Pick<Deps, 'providers' | 'now' | 'deploymentId'>,
  { instance, identity }: Pick<RegisterRequest, 'instance' | 'identity'>,
  returning: string | null,
): Promise<void> {
  if (returning !== null && returning !== instance) throw refused(instance, 'its token is of another instance');
  const provider = providers.find(({ manifest }) => manifest.isInstanceId(instance));
  if (provider === undefined) throw refused(instance, 'no provider of this control plane has such ids');
  if (provider.identity === null) return;
  if (identity === undefined) throw refused(instance, 'it came without its identity document');
  const verified = await provider.identity.verify(identity, deploymentId);
  if ('problem' in verified) throw refused(instance, verified.problem);
  if (verified.instanceId !== instance) throw refused(instance, 'its identity document is of another instance');
  // As old as the oldest valid launch token.
  if (returning === null && verified.pendingAtMs < now() - launchTokenTtlMs)
    throw refused(instance, 'its identity document is too old');
}

const refused = (instance: string, why: string) =>
  new RopewalkError({
    code: 'FORBIDDEN',
    message: `Instance ${instance} is not known to be itself: ${why}.`,
    hint: 'This agent should end.',
  });
