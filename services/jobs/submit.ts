// Submits a job. Secret or large data is written first, then a reference to it is admitted.
import { setImmediate as pause } from 'node:timers/promises';

import type { QueueRequest } from '../../domain/admission/queue.ts';
import { sealedForDays } from '../../domain/cluster/limits.ts';
import { firstReservation } from '../../domain/quota/shares.ts';
import { bundleKey, specKey } from '../../platform/archive-keys.ts';
import type { JobSpec } from '../../schema/job-spec.ts';
import type { CreatedJob } from '../../schema/jobs.ts';
import { admit, approvalWarning, laterWarning, orWithdrawn } from '../admission/admit.ts';
import { newAdmissionId } from '../admission/admission-id.ts';
import { forecastOf } from '../budgets/forecast.ts';
import type { Context } from '../context.ts';
import type { MachinesInput } from '../../schema/machines-spec.ts';
import { hostQueueOf, type ResolvedMachines } from '../machines.ts';
import { pricePerHour } from '../plan-roles.ts';
import { bundleBytes, type UnsealedBundle } from './body.ts';

/** Settings of a job except those derived from its machines. */
export type JobSettingsInput = Omit<JobSpec['settings'], 'provider' | 'providerQueue' | 'instanceVcpus' | 'machines'>;

export interface SubmitInput {
  /** The body as sent; a repeat of the request must have the same. */
  body: unknown;
  idempotencyKey: string | undefined;
  getOrCreate: boolean;
  privateToCreator: boolean;
  bundle: UnsealedBundle;
  /** Returns the filestore that records the files of its tasks; null when they are not kept. */
  filestoreOf: (admissionId: string) => string | null;
  settings: JobSettingsInput;
  /** Set for a job that waits instead of being refused. */
  queue?: QueueRequest;
  /** Refused while another job that retries the failed tasks of this one is open. */
  onlyRetryOf?: number;
  machines: ResolvedMachines;
  machinesInput: MachinesInput;
  warnings: string[];
}

export async function submitJob(context: Context, input: SubmitInput): Promise<CreatedJob> {
  const { deps, actor } = context;
  const { body, idempotencyKey, getOrCreate, privateToCreator, bundle, machines, queue } = input;
  const spending = await forecastOf(context, {
    ...{ machines, instances: input.settings.instances, maxMs: input.settings.jobTimeoutMs },
    maxCostMicros: input.settings.maxCostMicros,
  });
  const { maxCostMicros } = spending;
  const settings = { ...input.settings, ...(maxCostMicros === null ? {} : { maxCostMicros }) };
  const warnings = [...input.warnings, ...spending.warnings];
  const { workspace, user, userId } = actor;
  const admissionId = newAdmissionId(userId);
  const keys = { bundle: bundleKey(workspace, admissionId), spec: specKey(workspace, admissionId) };
  const withdraw = () => Promise.all([deps.vault.delete(keys.bundle), deps.objects.delete(keys.spec)]);
  // Parsed by now; as text it takes as long again.
  await pause();
  await deps.vault.seal(keys.bundle, await bundleBytes(bundle), { ttlMs: sealedForDays * 86_400_000 });
  const spec: JobSpec = {
    v: 1,
    ...{ workspace, user, admissionId, bundleRef: keys.bundle },
    filestore: input.filestoreOf(admissionId),
    createdAt: new Date(deps.now()).toISOString(),
    machinesInput: input.machinesInput,
    settings: {
      ...settings,
      ...placeOf(machines),
      ...(queue === undefined ? {} : { ...queue, after: [...queue.after] }),
    },
  };
  await orWithdrawn(deps.objects.put(keys.spec, toBytes(spec)), withdraw);

  const { number, name, existing, acceptedForLater, needsApproval } = await admit(context, {
    ...{ admissionId, idempotencyKey, body, getOrCreate, privateToCreator, withdraw },
    kind: 'job',
    name: settings.name,
    specRef: keys.spec,
    ...(input.onlyRetryOf === undefined ? {} : { retryOf: input.onlyRetryOf }),
    command: settings.command,
    estimate: spending.estimate,
    ...(queue === undefined ? {} : { queue }),
    ...firstReservation(machines, settings.instances),
    hostQueue: hostQueueOf(machines),
  });
  if (existing) return { number, name, existing, warnings };
  const price = pricePerHour(machines, settings.instances);
  if (needsApproval !== undefined) {
    return { number, name, existing, warnings: [...warnings, approvalWarning(needsApproval)], needsApproval, ...price };
  }
  if (!acceptedForLater) return { number, name, existing, warnings, ...price };
  return { number, name, existing, warnings: [...warnings, laterWarning], acceptedForLater, ...price };
}

const placeOf = ({ provider, providerQueue, instanceVcpus, machines }: ResolvedMachines) => ({
  ...{ provider, providerQueue, instanceVcpus },
  ...(machines === undefined ? {} : { machines }),
});

const toBytes = (value: JobSpec): Uint8Array => Buffer.from(JSON.stringify(value));
