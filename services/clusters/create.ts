// Starts a Dask cluster. What its processes get and its certificate authority are sealed first, then a reference to them is
// admitted. The specification holds no secret.
import { defaultSchedulerPort } from '../../domain/cluster/capacity/ingress-rules.ts';
import { cloudRegisterTimeoutMs, registerTimeoutMs, sealedForDays } from '../../domain/limits.ts';
import { firstReservation } from '../../domain/quota/shares.ts';
import { bundleKey, caKey, specKey } from '../../platform/archive-keys.ts';
import { createClusterCa } from '../../platform/pki/cluster-ca.ts';
import type { DaskBundle } from '../../schema/agent.ts';
import type { ClusterSpec } from '../../schema/cluster-spec.ts';
import type { CreateClusterParsed, CreatedCluster } from '../../schema/clusters.ts';
import { admit, laterWarning, orWithdrawn, requireDatabase } from '../admission/admit.ts';
import { newAdmissionId } from '../admission/admission-id.ts';
import { requireScope } from '../auth/scopes.ts';
import { sealCa } from '../cluster-ca.ts';
import type { Context, Deps } from '../context.ts';
import type { ResolvedMachines } from '../machines.ts';
import { pricePerHour } from '../plan-roles.ts';
import { environmentOf } from '../software/check.ts';
import { requirePackageFiles } from '../software/package-files.ts';
import { readClusterRequest, type Times } from './request.ts';

export interface CreateClusterInput {
  body: CreateClusterParsed;
  idempotencyKey: string | undefined;
}

export async function createCluster(
  context: Context,
  { body, idempotencyKey }: CreateClusterInput,
): Promise<CreatedCluster> {
  const { deps, actor } = context;
  requireScope(actor, 'write');
  const { times, machines, instances, warnings } = await readClusterRequest(deps, body);

  await requireDatabase(context);
  await requirePackageFiles(context, body.software);
  const { workspace, user, userId } = actor;
  const admissionId = newAdmissionId(userId);
  const refs = { bundle: bundleKey(workspace, admissionId), ca: caKey(workspace, admissionId) };
  const specRef = specKey(workspace, admissionId);
  const ca = await createClusterCa({
    cluster: body.name ?? admissionId,
    validDays: sealedForDays,
    now: new Date(deps.now()),
  });
  const ttlMs = sealedForDays * 86_400_000;
  await deps.vault.seal(refs.bundle, toBytes(bundleOf(body, times, machines)), { ttlMs });
  const withdraw = () =>
    Promise.all([deps.vault.delete(refs.bundle), deps.vault.delete(refs.ca), deps.objects.delete(specRef)]);
  await orWithdrawn(sealCa(deps.vault, refs.ca, ca, ttlMs), withdraw);
  const owner = { workspace, user, admissionId, bundleRef: refs.bundle, caRef: refs.ca };
  await orWithdrawn(deps.objects.put(specRef, toBytes(specOf(deps, owner, body, times, machines))), withdraw);

  const { number, name, existing, acceptedForLater } = await admit(context, {
    admissionId,
    idempotencyKey,
    body,
    kind: 'cluster',
    name: body.name ?? '',
    getOrCreate: body.getOrCreate,
    privateToCreator: body.privateToCreator,
    specRef,
    command: '',
    ...firstReservation(machines, instances),
    withdraw,
  });
  if (existing) return { number, name, existing, warnings: [] };
  const price = pricePerHour(machines, instances);
  if (!acceptedForLater) return { number, name, existing, warnings, ...price };
  return { number, name, existing, warnings: [...warnings, laterWarning], acceptedForLater, ...price };
}

const toBytes = (value: DaskBundle | ClusterSpec): Uint8Array => Buffer.from(JSON.stringify(value));

/** On a machine that clusters share, a fixed port would be free for one of them only. */
const schedulerPortOf = ({ schedulerPort }: CreateClusterParsed, { machines }: ResolvedMachines): number =>
  schedulerPort ?? (machines === undefined ? 0 : defaultSchedulerPort);

const bundleOf = (
  body: CreateClusterParsed,
  { aliveEveryMs, unresponsiveTimeoutMs }: Times,
  machines: ResolvedMachines,
): DaskBundle => ({
  runtime: { kind: 'environment', ...environmentOf(body.software) },
  env: { ...body.env, ...body.secretEnv },
  workerClass: body.workerClass ?? null,
  workerOptions: body.workerOptions,
  schedulerClass: body.schedulerClass ?? null,
  schedulerOptions: body.schedulerOptions,
  aliveEveryMs,
  unresponsiveTimeoutMs,
  schedulerPort: schedulerPortOf(body, machines),
});

const specOf = (
  deps: Pick<Deps, 'now'>,
  owner: { workspace: string; user: string; admissionId: string; bundleRef: string; caRef: string },
  { name = '', workers, privateToCreator, useSchedulerPublicIp }: CreateClusterParsed,
  { deadManMs, ...times }: Times,
  { provider, providerQueue, instanceVcpus, machines }: ResolvedMachines,
): ClusterSpec => ({
  v: 1,
  ...owner,
  createdAt: new Date(deps.now()).toISOString(),
  settings: {
    name,
    job: null,
    instances: workers + 1,
    provider,
    providerQueue,
    instanceVcpus,
    registerTimeoutMs: machines === undefined ? registerTimeoutMs : cloudRegisterTimeoutMs,
    deadManMs,
    ...(machines === undefined ? {} : { machines }),
    dask: { ...times, privateToCreator, useSchedulerPublicIp },
  },
});
