// A client's credentials for a cluster: a certificate of the cluster's own authority and its key, generated on request and never stored. They allow
// running code on the cluster, so the scope `read` does not suffice.
import { X509Certificate } from 'node:crypto';

import { addressForClients } from '../../domain/cluster/dask/client-address.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { issueLeafAndKey } from '../../platform/pki/cluster-ca.ts';
import type { Credentials } from '../../schema/clusters.ts';
import { requireCreator } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import { openCa } from '../cluster-ca.ts';
import type { Context } from '../context.ts';
import { time } from '../to-wire.ts';
import { findOpenDask } from './open-dask.ts';
import { readEnvironment } from './environment.ts';

export async function issueCredentials(context: Context, { number }: { number: number }): Promise<Credentials> {
  const { deps, actor } = context;
  requireScope(actor, 'write');
  const { dask, record, view } = await findOpenDask(context, number);
  requireCreator(actor, 'Cluster', record, 'gets its credentials');
  if (dask.orders.schedulerAddress === null) throw notYet(number);
  const head = view.instances.find(({ role, state }) => role === 'head' && state === 'ready');
  const spec = await deps.views.clusterSpec(actor.workspace, number);
  const schedulerAddress = addressForClients(dask.orders.schedulerAddress, {
    publicAddress: head?.publicAddress ?? null,
    usePublicAddress: spec?.settings.dask.useSchedulerPublicIp !== false,
  });
  const ca = await openCa(deps.vault, number, dask.caRef);
  const { certificatePem, keyPem } = await issueLeafAndKey({
    ca,
    role: 'client',
    subject: actor.user,
    addresses: [],
    validDays: clientValidDays,
    now: new Date(deps.now()),
  });
  return {
    schedulerAddress,
    ca: ca.certificatePem,
    certificate: certificatePem,
    key: keyPem.reveal(),
    // Its authority may expire earlier.
    expiresAt: time(new X509Certificate(certificatePem).validToDate.getTime()),
    environment: await readEnvironment(context, number),
  };
}

const clientValidDays = 7;

const notYet = (number: number) =>
  new RopewalkError(
    {
      code: 'NOT_YET',
      message: `The scheduler of cluster ${number} has not started yet.`,
      hint: 'Try again in a second.',
    },
    { retryAfterMs: 1_000 },
  );
