// Creates a Dask cluster. Its bundle and its certificate authority are sealed first, then a reference to them is admitted. The specification contains
// no secret.
import { randomBytes } from 'node:crypto';

import { microsOf } from '../../domain/cost/interval.ts';
import { defaultSchedulerPort } from '../../domain/cluster/capacity/ingress-rules.ts';
import { cloudRegisterTimeoutMs, registerTimeoutMs, sealedForDays } from '../../domain/cluster/limits.ts';
import { idleGpuAfterMs } from '../../domain/gpu-use.ts';
import { firstReservation } from '../../domain/quota/shares.ts';
import { bundleKey, caKey, specKey } from '../../platform/archive-keys.ts';
import { createClusterCa } from '../../platform/pki/cluster-ca.ts';
import type { DaskBundle } from '../../schema/agent.ts';
import type { ClusterSpec } from '../../schema/cluster-spec.ts';
import type { RuntimeSpec } from '../../schema/runtime.ts';
import type { CreateClusterParsed, CreatedCluster } from '../../schema/clusters.ts';
import { admit, approvalWarning, laterWarning, orWithdrawn, requireDatabase } from '../admission/admit.ts';
import { newAdmissionId } from '../admission/admission-id.ts';
import { requireScope } from '../auth/scopes.ts';
import { sealCa } from '../cluster-ca.ts';
import { forecastOf, type Forecast } from '../budgets/forecast.ts';
import type { Context, Deps } from '../context.ts';
import { hostQueueOf, type ResolvedMachines } from '../machines.ts';
import { readDefaults } from '../people/defaults.ts';
import { pricePerHour } from '../plan-roles.ts';
import { environmentOf } from '../software/check.ts';
import { withNamedEnvironment } from '../environments/resolve.ts';
import { requirePackageFiles } from '../software/package-files.ts';
import { readClusterRequest, type ClusterRequest } from './request.ts';

export interface CreateClusterInput {
  body: CreateClusterParsed;
  idempotencyKey: string | undefined;
}

export async function createCluster(
  context: Context,
  { body: sent, idempotencyKey }: CreateClusterInput,
): Promise<CreatedCluster> {
  const { deps, actor } = context;
  requireScope(actor, 'write');
  const body = await withNamedEnvironment(context, sent);
  const request = await readClusterRequest(deps, body, await readDefaults(context));
  const { machines, maxInstances } = request;

  await requireDatabase(context);
  const spending = await forecastOf(context, {
    ...{ machines, instances: maxInstances, maxMs: request.times.maxLifetimeMs },
    maxCostMicros: body.maxCost === undefined ? undefined : microsOf(body.maxCost),
  });
  const warnings = [...request.warnings, ...spending.warnings];
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
  await deps.vault.seal(refs.bundle, toBytes(bundleOf(body, request)), { ttlMs });
  const withdraw = () =>
    Promise.all([deps.vault.delete(refs.bundle), deps.vault.delete(refs.ca), deps.objects.delete(specRef)]);
  await orWithdrawn(sealCa(deps.vault, refs.ca, ca, ttlMs), withdraw);
  const owner = { workspace, user, admissionId, bundleRef: refs.bundle, caRef: refs.ca };
  await orWithdrawn(deps.objects.put(specRef, toBytes(specOf(deps, owner, body, { ...request, spending }))), withdraw);

  const { number, name, existing, acceptedForLater, needsApproval } = await admit(context, {
    admissionId,
    idempotencyKey,
    // The request as sent, because the named environment may change before the request is repeated.
    body: sent,
    kind: 'cluster',
    name: body.name ?? '',
    getOrCreate: body.getOrCreate,
    privateToCreator: body.privateToCreator,
    specRef,
    command: '',
    estimate: spending.estimate,
    ...firstReservation(machines, maxInstances),
    hostQueue: hostQueueOf(machines),
    withdraw,
  });
  if (existing) return { number, name, existing, warnings: [] };
  const price = priceOf(request);
  if (needsApproval !== undefined) {
    return { number, name, existing, warnings: [...warnings, approvalWarning(needsApproval)], needsApproval, ...price };
  }
  if (!acceptedForLater) return { number, name, existing, warnings, ...price };
  return { number, name, existing, warnings: [...warnings, laterWarning], acceptedForLater, ...price };
}

/** From the price of the first workers to that of the maximum of adaptive scaling. */
function priceOf({ machines, instances, maxInstances }: ClusterRequest): Pick<CreatedCluster, 'pricePerHour'> {
  const { pricePerHour: first } = pricePerHour(machines, instances);
  const { pricePerHour: most } = pricePerHour(machines, maxInstances);
  if (first === undefined || most === undefined) return {};
  return { pricePerHour: { firstChoice: first.firstChoice, max: most.max } };
}

const toBytes = (value: DaskBundle | ClusterSpec): Uint8Array => Buffer.from(JSON.stringify(value));

/** On a machine that clusters share, only one of them could use a fixed port. */
const schedulerPortOf = ({ schedulerPort }: CreateClusterParsed, { machines }: ResolvedMachines): number =>
  schedulerPort ?? (machines === undefined ? 0 : defaultSchedulerPort);

/** An image contains Dask; Dask is added to an environment. */
const runtimeOf = ({
  container,
  ignoreContainerEntrypoint,
  registryAuth,
  software,
}: CreateClusterParsed): RuntimeSpec =>
  container === undefined
    ? { kind: 'environment', ...environmentOf(software) }
    : {
        kind: 'container',
        image: container,
        ignoreEntrypoint: ignoreContainerEntrypoint ?? false,
        registryAuth: registryAuth ?? {},
      };

/** Cloud instances are separate machines; instances on a host share it. */
function workersPerMachine(
  { workersPerInstance, extraWorkerOnScheduler }: CreateClusterParsed,
  { machines }: ResolvedMachines,
  maxInstances: number,
): number {
  if (machines !== undefined) return workersPerInstance;
  return Math.max(1, (maxInstances - 1) * workersPerInstance + (extraWorkerOnScheduler ? 1 : 0));
}

const bundleOf = (
  body: CreateClusterParsed,
  { times: { aliveEveryMs, unresponsiveTimeoutMs }, machines, maxInstances }: ClusterRequest,
): DaskBundle => ({
  runtime: runtimeOf(body),
  env: { ...body.env, ...body.secretEnv },
  hostSetupScript: body.hostSetupScript ?? null,
  workerClass: body.workerClass ?? null,
  workerOptions: body.workerOptions,
  schedulerClass: body.schedulerClass ?? null,
  schedulerOptions: body.schedulerOptions,
  aliveEveryMs,
  unresponsiveTimeoutMs,
  schedulerPort: schedulerPortOf(body, machines),
  usage: body.usage,
  jupyterToken: body.jupyter ? randomBytes(32).toString('base64url') : null,
  workersPerMachine: workersPerMachine(body, machines, maxInstances),
  shareMachine: machines.machines === undefined,
  workersPerInstance: body.workersPerInstance,
  extraWorkerOnScheduler: body.extraWorkerOnScheduler,
  gpuIdleAfterMs: machines.hasGpus ? idleGpuAfterMs : null,
});

const specOf = (
  deps: Pick<Deps, 'now'>,
  owner: { workspace: string; user: string; admissionId: string; bundleRef: string; caRef: string },
  { name = '', privateToCreator, useSchedulerPublicIp }: CreateClusterParsed,
  {
    times: { watchdogTimeoutMs, ...times },
    instances,
    adaptive,
    machines: resolved,
    spending: { maxCostMicros },
  }: ClusterRequest & { spending: Forecast },
): ClusterSpec => ({
  v: 1,
  ...owner,
  createdAt: new Date(deps.now()).toISOString(),
  settings: {
    name,
    job: null,
    instances,
    provider: resolved.provider,
    providerQueue: resolved.providerQueue,
    instanceVcpus: resolved.instanceVcpus,
    registerTimeoutMs: resolved.machines === undefined ? registerTimeoutMs : cloudRegisterTimeoutMs,
    watchdogTimeoutMs,
    ...(maxCostMicros === null ? {} : { maxCostMicros }),
    ...(resolved.machines === undefined ? {} : { machines: resolved.machines }),
    dask: { ...times, adaptive, privateToCreator, useSchedulerPublicIp },
  },
});
