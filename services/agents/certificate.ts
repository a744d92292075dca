// Signs a certificate for an instance's key, so no private key is sent. Role and addresses come from the cluster's record of the instance; names in
// the request are ignored.
import { RopewalkError } from '../../domain/errors.ts';
import { sealedForDays } from '../../domain/cluster/limits.ts';
import { issueLeaf } from '../../platform/pki/cluster-ca.ts';
import type { InstanceView } from '../../contracts/cluster.ts';
import { openCa } from '../cluster-ca.ts';
import type { InstanceContext } from '../context.ts';
import { requireLive } from './live-instance.ts';

export async function issueCertificate(
  context: InstanceContext,
  { csr }: { csr: string },
): Promise<{ certificate: string; ca: string }> {
  const { deps, actor } = context;
  const { instance, caRef } = await findOwn(context);
  const ca = await openCa(deps.vault, actor.cluster, caRef);
  const { certificatePem } = await issueLeaf({
    ca,
    role: instance.role === 'head' ? 'scheduler' : 'worker',
    subject: instance.id,
    addresses: [instance.address, instance.publicAddress, instance.hostname].filter((each) => each !== null),
    // Valid as long as the authority: an instance does not ask again, and the name of an instance that left grants nothing.
    validDays: sealedForDays,
    now: new Date(deps.now()),
    csrPem: csr,
  });
  return { certificate: certificatePem, ca: ca.certificatePem };
}

const knownMaxAgeMs = 5_000;

async function findOwn(context: InstanceContext): Promise<{ instance: InstanceView; caRef: string }> {
  const { cluster, instance: id } = context.actor;
  const { view, instance } = await requireLive(context, knownMaxAgeMs);
  if (view.dask !== null && instance !== null) return { instance, caRef: view.dask.caRef };
  throw new RopewalkError({
    code: 'FORBIDDEN',
    message: `Instance ${id} is not a live part of a Dask cluster ${cluster}: it gets no certificate.`,
    hint: 'This agent should end.',
  });
}
