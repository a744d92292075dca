// Submits a job. What is secret or large is written first, then a reference to it is admitted.
import { sealedForDays } from '../../domain/limits.ts';
import type { ResolvedJob } from '../../domain/job/settings.ts';
import { firstReservation } from '../../domain/quota/shares.ts';
import { bundleKey, specKey } from '../../platform/archive-keys.ts';
import type { Bundle } from '../../schema/agent.ts';
import type { JobSpec } from '../../schema/job-spec.ts';
import type { CreatedJob, CreateJobParsed } from '../../schema/jobs.ts';
import { admit, laterWarning, orWithdrawn, requireDatabase } from '../admission/admit.ts';
import { newAdmissionId } from '../admission/admission-id.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context, Deps } from '../context.ts';
import type { ResolvedMachines } from '../machines.ts';
import { pricePerHour } from '../plan-roles.ts';
import { environmentOf } from '../software/check.ts';
import { requirePackageFiles } from '../software/package-files.ts';
import { readJobRequest } from './request.ts';

export interface CreateJobInput {
  body: CreateJobParsed;
  idempotencyKey: string | undefined;
}

export async function createJob(context: Context, { body, idempotencyKey }: CreateJobInput): Promise<CreatedJob> {
  const { deps, actor } = context;
  requireScope(actor, 'write');
  const { resolved, machines, warnings } = await readJobRequest(deps, body);

  await requireDatabase(context);
  await requirePackageFiles(context, body.software);
  const { workspace, user, userId } = actor;
  const admissionId = newAdmissionId(userId);
  const keys = { bundle: bundleKey(workspace, admissionId), spec: specKey(workspace, admissionId) };
  const withdraw = () => Promise.all([deps.vault.delete(keys.bundle), deps.objects.delete(keys.spec)]);
  await deps.vault.seal(keys.bundle, toBytes(bundleOf(body, resolved)), { ttlMs: sealedForDays * 86_400_000 });
  const spec = specOf(deps, { workspace, user, admissionId, bundleRef: keys.bundle }, resolved, machines);
  await orWithdrawn(deps.objects.put(keys.spec, toBytes(spec)), withdraw);

  const { number, name, existing, acceptedForLater } = await admit(context, {
    admissionId,
    idempotencyKey,
    body,
    kind: 'job',
    name: resolved.name,
    getOrCreate: body.getOrCreate,
    privateToCreator: body.privateToCreator,
    specRef: keys.spec,
    command: resolved.command,
    ...firstReservation(machines, resolved.instances),
    withdraw,
  });
  if (existing) return { number, name, existing, warnings };
  const price = pricePerHour(machines, resolved.instances);
  if (!acceptedForLater) return { number, name, existing, warnings, ...price };
  return { number, name, existing, warnings: [...warnings, laterWarning], acceptedForLater, ...price };
}

const toBytes = (value: Bundle | JobSpec): Uint8Array => Buffer.from(JSON.stringify(value));

const bundleOf = (body: CreateJobParsed, { env, secretEnv }: ResolvedJob): Bundle => ({
  runtime: body.software === undefined ? { kind: 'host' } : { kind: 'environment', ...environmentOf(body.software) },
  command: body.command,
  env: { ...env, ...secretEnv },
  files: body.files.map(({ path, content, executable }) => ({ path, contentBase64: content, executable })),
});

function specOf(
  deps: Pick<Deps, 'now'>,
  owner: { workspace: string; user: string; admissionId: string; bundleRef: string },
  { name, command, taskCount, array, instances, leaseMs, deadManMs, retries, jobTimeoutMs }: ResolvedJob,
  { provider, providerQueue, machines, instanceVcpus }: ResolvedMachines,
): JobSpec {
  return {
    v: 1,
    ...owner,
    createdAt: new Date(deps.now()).toISOString(),
    settings: {
      name,
      command,
      taskCount,
      array,
      instances,
      leaseMs,
      retries,
      jobTimeoutMs,
      provider,
      providerQueue,
      instanceVcpus,
      deadManMs,
      ...(machines === undefined ? {} : { machines }),
    },
  };
}
