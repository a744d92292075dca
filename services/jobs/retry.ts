// Retries the unfinished tasks of an ended job in a new job that names the old one: the same command, files, environment and ids. The old job's
// sealed bundle is kept for some days for this.
import type { JobView } from '../../contracts/job.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { chooseInputs } from '../../domain/job/inputs.ts';
import { instancesFor } from '../../domain/job/placement.ts';
import { retriedStates } from '../../domain/job/retried-tasks.ts';
import { retriableForMs } from '../../domain/job/retry-rules.ts';
import { chooseTasks } from '../../domain/job/stored-array.ts';
import { bundle as bundleSchema } from '../../schema/agent.ts';
import type { JobSpec } from '../../schema/job-spec.ts';
import type { CreatedJob, RetryJob } from '../../schema/jobs.ts';
import { isAdmissionOf } from '../admission/admission-id.ts';
import { requireDatabase } from '../admission/admit.ts';
import { requireCreator } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { filestoreOfRetry } from '../files/filestores.ts';
import { resolveMachines } from '../machines.ts';
import { inParts } from '../turns.ts';
import { withMemory } from './more-memory.ts';
import { submitJob, type JobSettingsInput } from './submit.ts';
import { findJob } from './live-tasks.ts';
import { inTurn, readStates, stateAt } from './task-states.ts';

export interface RetryJobInput {
  number: number;
  body: RetryJob;
  idempotencyKey: string | undefined;
}

/**
 * @throws RopewalkError FORBIDDEN for other users' private jobs, CONFLICT for a job that has not ended, has not failed or is being retried, EXPIRED
 * after some days.
 */
export async function retryJob(context: Context, { number, body, idempotencyKey }: RetryJobInput): Promise<CreatedJob> {
  const { deps, actor } = context;
  requireScope(actor, 'write');
  const { view, record } = await deps.views.job(actor.workspace, number);
  requireCreator(actor, 'Job', record, 'may run its tasks again');
  if (view.endedAtMs === null) throw conflict(`Job ${number} has not ended.`, 'Wait for it, or cancel it.');
  const states = retriedStates(view, body);
  if (!isAdmissionOf(actor.userId, record.admissionId)) throw ofAnother(number, record.user);
  await requireDatabase(context);
  const spec = await deps.views.endedJobSpec(actor.workspace, number);
  const bytes = spec === null ? null : await deps.vault.open(spec.bundleRef);
  if (states.length === 0) throw nothingToRun(view, bytes !== null);
  if (spec === null || bytes === null) throw expired(number);
  const bundle = bundleSchema.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  const machinesInput = body.memory === undefined ? spec.machinesInput : withMemory(spec.machinesInput, body.memory);
  const machines = await resolveMachines(deps, machinesInput);
  const chosen = await indicesIn(states, context, number);
  return submitJob(context, {
    ...{ idempotencyKey, getOrCreate: false, privateToCreator: view.privateToCreator, machines, machinesInput },
    body: { ...body, retryOf: number },
    warnings: machines.warnings,
    ...(body.again === true ? {} : { onlyRetryOf: number }),
    filestoreOf: (admissionId) => filestoreOfRetry(admissionId, spec.filestore),
    bundle: {
      ...bundle,
      inputs: bundle.inputs && chooseInputs(bundle.inputs, chosen),
      taskCount: bundle.taskCount ?? view.tasks.total,
    },
    settings: { ...settingsOf(spec, chosen), retryOf: number },
  });
}

function settingsOf(spec: JobSpec, chosen: readonly number[]): JobSettingsInput {
  const {
    headTasks: before,
    provider: _,
    providerQueue: _queue,
    instanceVcpus: _v,
    machines: _m,
    after: _after,
    priority: _priority,
    schedule: _schedule,
    ...settings
  } = spec.settings;
  const headTasks = before && chosen.flatMap((index, at) => (before.includes(index) ? [at] : []));
  return {
    ...settings,
    ...(headTasks === undefined ? {} : { headTasks }),
    name: '',
    taskCount: chosen.length,
    array: chooseTasks(settings.array, chosen),
    instances: Math.max(1, instancesFor(chosen.length, headTasks, settings.instances)),
  };
}

async function indicesIn(wanted: readonly string[], context: Context, number: number): Promise<number[]> {
  const seen = await findJob(context, number);
  return inTurn(context, seen, async () => {
    const states = await readStates(context.deps, seen);
    const found: number[] = [];
    await inParts(states.codes.length, (index) => {
      if (wanted.includes(stateAt(states, index))) found.push(index);
    });
    return found;
  });
}

const conflict = (message: string, hint: string) => new RopewalkError({ code: 'CONFLICT', message, hint });

const nothingToRun = ({ number, tasks }: JobView, isKept: boolean): RopewalkError =>
  tasks.cancelled > 0
    ? conflict(
        `No task of job ${number} failed; ${tasks.cancelled} were cancelled.`,
        isKept ? 'Run those again with --cancelled.' : 'What the job would have run is not kept: submit it again.',
      )
    : conflict(`No task of job ${number} failed.`, 'There is nothing to run again.');

const ofAnother = (number: number, user: string) =>
  new RopewalkError({
    code: 'FORBIDDEN',
    message: `Job ${number} is of ${user}: only its creator can run its tasks again, with its secrets.`,
    hint: `Ask ${user}, or start a job of your own.`,
  });

const expired = (number: number) =>
  new RopewalkError({
    code: 'EXPIRED',
    message: `What job ${number} ran is no longer there: it is kept for ${retriableForMs / 86_400_000} days after the end of a job, and not where it was cancelled while it waited.`,
    hint: 'Submit the job again, with --array and the ids of the tasks.',
  });
