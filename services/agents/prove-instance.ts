// An instance of EC2 shows that it is the one it says: anybody who reads a launch token could register otherwise. Only EC2
// has such ids, and a cluster knows the ids of its own launches, so that nothing else needs to be asked. One that comes back
// shows a token that it could only get by this proof: then its document may be as old as it is.
import { ec2InstanceId } from '../../domain/cloud-names.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { launchTokenTtlMs } from '../../domain/limits.ts';
import { verifyIdentity } from '../../platform/aws-identity.ts';
import type { RegisterRequest } from '../../schema/agent.ts';
import type { Deps } from '../context.ts';

export function proveInstance(
  { identityKeys, now }: Pick<Deps, 'identityKeys' | 'now'>,
  { instance, identity }: Pick<RegisterRequest, 'instance' | 'identity'>,
  returning: string | null,
): void {
  if (returning !== null && returning !== instance) throw refused(instance, 'its token is of another instance');
  if (!ec2InstanceId.test(instance)) return;
  if (identity === undefined) throw refused(instance, 'it came without its identity document');
  const verified = verifyIdentity(identityKeys, identity);
  if ('problem' in verified) throw refused(instance, verified.problem);
  if (verified.instanceId !== instance) throw refused(instance, 'its identity document is of another instance');
  // As old as the oldest launch token that is still good.
  if (returning === null && verified.pendingAtMs < now() - launchTokenTtlMs)
    throw refused(instance, 'its identity document is too old');
}

const refused = (instance: string, why: string) =>
  new RopewalkError({
    code: 'FORBIDDEN',
    message: `Instance ${instance} is not known to be itself: ${why}.`,
    hint: 'This agent should end.',
  });
