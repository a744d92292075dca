// A certificate for the key that an instance has made: no private key crosses the wire. Its role and its address are what
// the cluster knows of the instance; what the request asks to be called is ignored.
import { RopewalkError } from '../../domain/errors.ts';
import { sealedForDays } from '../../domain/limits.ts';
import { issueLeaf } from '../../platform/pki/cluster-ca.ts';
import type { InstanceView } from '../../contracts/cluster.ts';
import { openCa } from '../cluster-ca.ts';
import type { InstanceContext } from '../context.ts';

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
    addresses: instance.address === null ? [] : [instance.address],
    // As long as the authority: an instance does not ask again, and whoever leaves a cluster is not let in by name.
    validDays: sealedForDays,
    now: new Date(deps.now()),
    csrPem: csr,
  });
  return { certificate: certificatePem, ca: ca.certificatePem };
}

const knownMaxAgeMs = 5_000;

/** Read anew when it is not there: it may have registered through another replica just now. */
async function findOwn({ deps, actor }: InstanceContext): Promise<{ instance: InstanceView; caRef: string }> {
  for (const maxAgeMs of [knownMaxAgeMs, 0]) {
    const view = await deps.views.clusterOfAgent(actor.workspace, actor.cluster, maxAgeMs);
    const instance = view.instances.find(({ id }) => id === actor.instance);
    const isOpen = view.endedAtMs === null && view.status !== 'stopping';
    if (view.dask !== null && isOpen && instance !== undefined && mayJoin.has(instance.state)) {
      return { instance, caRef: view.dask.caRef };
    }
  }
  throw new RopewalkError({
    code: 'FORBIDDEN',
    message: `Instance ${actor.instance} is not a live part of a Dask cluster ${actor.cluster}: it gets no certificate.`,
    hint: 'This agent should end.',
  });
}

const mayJoin = new Set<InstanceView['state']>(['started', 'ready']);
