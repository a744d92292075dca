// Submits a job from a request.
import { RopewalkError } from '../../domain/errors.ts';
import { idleGpuAfterMs } from '../../domain/gpu-use.ts';
import { giveWay, replacedWarning } from '../../domain/job/implicit-files.ts';
import type { ResolvedJob } from '../../domain/job/settings.ts';
import type { StoredFile } from '../../schema/files.ts';
import type { RuntimeSpec } from '../../schema/runtime.ts';
import type { CreatedJob } from '../../schema/jobs.ts';
import { requireDatabase } from '../admission/admit.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context, Deps } from '../context.ts';
import { filestoreOf, readFilestore } from '../files/filestores.ts';
import { requireStored, requireStoredList } from '../files/require-stored.ts';
import { withNamedSoftware } from '../environments/resolve.ts';
import type { ResolvedMachines } from '../machines.ts';
import { readDefaults } from '../people/defaults.ts';
import { requirePackageFiles } from '../software/package-files.ts';
import type { JobBody, JobFile, UnsealedBundle } from './body.ts';
import { readJobRequest } from './request.ts';
import { checkInputFiles, normalPath } from './script.ts';
import { sidecarsOf } from './sidecars.ts';
import { submitJob, type JobSettingsInput } from './submit.ts';

export interface CreateJobInput {
  body: JobBody;
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
  await requireStoredList(deps, actor.workspace, body.mapOver?.list);
  const { files, inputFiles, replaced } = await filesOf(deps, actor.workspace, body, resolved.files);
  return submitJob(context, {
    // The request as sent, because the named environment may change before the request is repeated.
    ...{ body: sent, idempotencyKey, machines, machinesInput, warnings: [...warnings, ...replaced] },
    ...{ getOrCreate: body.getOrCreate, privateToCreator: body.privateToCreator },
    bundle: bundleOf({ ...body, files }, { runtime, inputFiles, machines }, resolved),
    filestoreOf: (admissionId) => filestoreOf(admissionId, resolved.files),
    settings: { ...settingsOf(resolved), ...(schedule === undefined ? {} : { schedule }) },
    ...(resolved.queue === undefined ? {} : { queue: resolved.queue }),
  });
}

const bundleOf = (
  body: JobBody,
  { runtime, inputFiles, machines }: { runtime: RuntimeSpec; inputFiles: StoredFile[]; machines: ResolvedMachines },
  { env, secretEnv, inputs, files, taskTimeoutMs }: ResolvedJob,
): UnsealedBundle => ({
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

interface JobFiles {
  files: JobFile[];
  inputFiles: StoredFile[];
  /** Warnings about files of the request that the filestore replaces. */
  replaced: string[];
}

/** The files of the request, and the present files of the filestore at other paths; a file that only a script names gives way to them. */
async function filesOf(
  deps: Deps,
  workspace: string,
  { inputFiles, files }: JobBody,
  { inputFilestore }: ResolvedJob['files'],
): Promise<JobFiles> {
  const named = files.filter(({ implicit }) => !implicit);
  const own = new Set([...inputFiles, ...named].map(({ path }) => normalPath(path)));
  const all = inputFilestore === null ? [] : await readFilestore(deps, workspace, inputFilestore);
  if (inputFilestore !== null && all.length === 0) throw emptyFilestore(inputFilestore);
  const stored = all.filter(({ path }) => !own.has(path));
  const { kept, replaced } = giveWay(
    files.map((file) => ({ ...file, path: normalPath(file.path) })),
    stored.map(({ path }) => path),
  );
  checkInputFiles(stored, [...inputFiles, ...kept], 'inputFilestore');
  const placed = [...inputFiles, ...stored];
  await requireStored(deps, workspace, { files: placed, field: 'inputFiles' });
  return { files: kept, inputFiles: placed, replaced: replacedWarning(inputFilestore ?? '', replaced) };
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
