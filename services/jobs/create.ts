// Submits a job from a request.
import { RopewalkError } from '../../domain/errors.ts';
import { idleGpuAfterMs } from '../../domain/gpu-use.ts';
import type { ResolvedJob } from '../../domain/job/settings.ts';
import type { Bundle } from '../../schema/agent.ts';
import type { StoredFile } from '../../schema/files.ts';
import type { RuntimeSpec } from '../../schema/runtime.ts';
import type { CreatedJob, CreateJobParsed } from '../../schema/jobs.ts';
import { requireDatabase } from '../admission/admit.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context, Deps } from '../context.ts';
import { filestoreOf, readFilestore } from '../files/filestores.ts';
import { requireStored } from '../files/require-stored.ts';
import { withNamedSoftware } from '../environments/resolve.ts';
import type { ResolvedMachines } from '../machines.ts';
import { readDefaults } from '../people/defaults.ts';
import { requirePackageFiles } from '../software/package-files.ts';
import { readJobRequest } from './request.ts';
import { checkInputFiles, normalPath } from './script.ts';
import { sidecarsOf } from './sidecars.ts';
import { submitJob, type JobSettingsInput } from './submit.ts';

export interface CreateJobInput {
  body: CreateJobParsed;
  idempotencyKey: string | undefined;
  /** Name of the schedule that submits it. */
  schedule?: string;
}

export async function createJob(
  context: Context,
  { body: sent, idempotencyKey, schedule }: CreateJobInput,
): Promise<CreatedJob> {
  const { deps, actor } = context;
  requireScope(actor, 'write');
  const body = await withNamedSoftware(context, sent);
  const { resolved, machines, machinesInput, runtime, warnings } = await readJobRequest(
    deps,
    body,
    await readDefaults(context),
  );
  await requireDatabase(context);
  await requirePackageFiles(context, body.software);
  const inputFiles = await inputFilesOf(deps, actor.workspace, body, resolved.files);
  return submitJob(context, {
    // The request as sent, because the named environment may change before the request is repeated.
    ...{ body: sent, idempotencyKey, machines, machinesInput, warnings },
    ...{ getOrCreate: body.getOrCreate, privateToCreator: body.privateToCreator },
    bundle: bundleOf(body, { runtime, inputFiles, machines }, resolved),
    filestoreOf: (admissionId) => filestoreOf(admissionId, resolved.files),
    settings: { ...settingsOf(resolved), ...(schedule === undefined ? {} : { schedule }) },
    ...(resolved.queue === undefined ? {} : { queue: resolved.queue }),
  });
}

const bundleOf = (
  body: CreateJobParsed,
  { runtime, inputFiles, machines }: { runtime: RuntimeSpec; inputFiles: StoredFile[]; machines: ResolvedMachines },
  { env, secretEnv, inputs, files, taskTimeoutMs }: ResolvedJob,
): Bundle => ({
  runtime,
  command: body.command,
  env: { ...env, ...secretEnv },
  secretNames: Object.keys(secretEnv),
  hostSetupScript: body.hostSetupScript ?? null,
  gpuIdleAfterMs: machines.hasGpus ? idleGpuAfterMs : null,
  inputs,
  taskCount: null,
  taskTimeoutMs,
  files: body.files.map(({ path, content, executable }) => ({ path, contentBase64: content, executable })),
  inputFiles,
  output: files.storeFiles ? { pipe: files.pipeToFiles } : null,
  ...(body.schedulerSidecars === undefined ? {} : { sidecars: sidecarsOf(body) }),
});

/** The files of the request, and the present files of the filestore with other paths. */
async function inputFilesOf(
  deps: Deps,
  workspace: string,
  { inputFiles, files }: CreateJobParsed,
  { inputFilestore }: ResolvedJob['files'],
): Promise<StoredFile[]> {
  const own = new Set([...inputFiles, ...files].map(({ path }) => normalPath(path)));
  const all = inputFilestore === null ? [] : await readFilestore(deps, workspace, inputFilestore);
  if (inputFilestore !== null && all.length === 0) throw emptyFilestore(inputFilestore);
  const stored = all.filter(({ path }) => !own.has(path));
  checkInputFiles(stored, [...inputFiles, ...files], 'inputFilestore');
  const placed = [...inputFiles, ...stored];
  await requireStored(deps, workspace, { files: placed, field: 'inputFiles' });
  return placed;
}

const emptyFilestore = (name: string): RopewalkError =>
  new RopewalkError({
    code: 'VALIDATION',
    field: 'inputFilestore',
    message: `inputFilestore: There is no filestore ${name} in this workspace: tasks would run without its files.`,
    hint: 'Correct the name. A job gets the files that the filestore has when the job is submitted: submit it after the job that writes them has ended.',
  });

function settingsOf(resolved: ResolvedJob): JobSettingsInput {
  const { name, command, taskCount, array, instances, leaseMs, watchdogTimeoutMs, retries, jobTimeoutMs } = resolved;
  const { headTasks, gang, retryOn, maxCostMicros } = resolved;
  return {
    ...{ name, command, taskCount, array, instances, leaseMs, retries, jobTimeoutMs, watchdogTimeoutMs },
    ...(retryOn === undefined ? {} : { retryOn }),
    ...(headTasks === undefined ? {} : { headTasks }),
    ...(gang === undefined ? {} : { gang }),
    ...(maxCostMicros === undefined ? {} : { maxCostMicros }),
  };
}
