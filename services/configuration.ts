// The requested settings of a cluster or job: its specification, and while it is open the software in its sealed bundle, without secrets.
import { dollarsOf } from '../domain/cost/interval.ts';
import { RopewalkError } from '../domain/errors.ts';
import { withoutUrlSecrets } from '../domain/software/url-text.ts';
import { bundle, daskBundle } from '../schema/agent.ts';
import type { ClusterSpec } from '../schema/cluster-spec.ts';
import type { Configuration } from '../schema/configuration.ts';
import type { JobSpec } from '../schema/job-spec.ts';
import type { RuntimeSpec } from '../schema/runtime.ts';
import { callerOf } from './auth/caller.ts';
import { requireCreator } from './auth/privacy.ts';
import { requireScope } from './auth/scopes.ts';
import type { Context } from './context.ts';

/** @throws RopewalkError NOT_FOUND, and FORBIDDEN for another user's private cluster. */
export async function readClusterConfiguration(
  context: Context,
  { number }: { number: number },
): Promise<Configuration> {
  const { deps, actor } = context;
  requireScope(actor, 'read');
  const { record } = await deps.views.clusterRow(actor.workspace, number);
  requireCreator(actor, 'Cluster', record, 'may read its configuration');
  if (record.job !== null) return ofJob(context, number);
  const spec = await deps.views.endedClusterSpec(actor.workspace, number);
  if (spec === null) throw notKept('cluster', number);
  const sealed = await open(context, spec, (json) => clusterSoftware.parse(json));
  const { dask } = spec.settings;
  return {
    ...common(number, spec),
    limits: {
      ...limitsOf(spec),
      idleTimeoutSeconds: secondsOf(dask.idleTimeoutMs),
      noClientTimeoutSeconds: secondsOf(dask.noClientTimeoutMs),
      maxLifetimeSeconds: secondsOf(dask.maxLifetimeMs),
    },
    software: sealed === null ? null : softwareOf(sealed, sealed.jupyterToken !== null),
  };
}

/** @throws RopewalkError NOT_FOUND, and FORBIDDEN for another user's private job. */
export async function readJobConfiguration(context: Context, { number }: { number: number }): Promise<Configuration> {
  const { deps, actor } = context;
  requireScope(actor, 'read');
  const { record } = await deps.views.jobRow(actor.workspace, number);
  requireCreator(actor, 'Job', record, 'may read its configuration');
  return ofJob(context, number);
}

async function ofJob(context: Context, number: number): Promise<Configuration> {
  const spec = await context.deps.views.endedJobSpec(context.actor.workspace, number);
  if (spec === null) throw notKept('job', number);
  const sealed = await open(context, spec, (json) => jobSoftware.parse(json));
  return {
    ...common(number, spec),
    limits: {
      ...limitsOf(spec),
      jobTimeoutSeconds: secondsOf(spec.settings.jobTimeoutMs),
      taskTimeoutSeconds: secondsOf(sealed?.taskTimeoutMs ?? null),
      retries: spec.settings.retries,
    },
    software: sealed === null ? null : softwareOf(sealed, false),
  };
}

/** Skips a job's inputs and files, which may be megabytes. */
const jobSoftware = bundle.pick({ runtime: true, env: true, hostSetupScript: true, taskTimeoutMs: true });
const clusterSoftware = daskBundle.pick({ runtime: true, env: true, hostSetupScript: true, jupyterToken: true });

/** Null when it was deleted at the end. */
async function open<T>(
  { deps, actor }: Context,
  { bundleRef }: { bundleRef: string },
  parse: (json: unknown) => T,
): Promise<T | null> {
  const bytes = await deps.vault.open(bundleRef);
  if (bytes === null) return null;
  // Takes as much work as the tasks of a large job.
  const work = Math.ceil(bytes.length / bytesPerTask);
  return deps.turns.take(callerOf(actor).id, work, async () => parse(JSON.parse(Buffer.from(bytes).toString('utf8'))));
}

/** Size of an input. */
const bytesPerTask = 100;

function common(number: number, { settings }: ClusterSpec | JobSpec): Omit<Configuration, 'limits' | 'software'> {
  const { provider, instances, machines } = settings;
  if (machines === undefined) return { number, provider, instances, machines: null };
  const { workerTypes, headTypes, architecture, spotPolicy, region, zones, allowCrossZone, diskGib } = machines;
  return {
    ...{ number, provider, instances },
    machines: {
      ...{ workerTypes, headTypes, architecture, spotPolicy, region, zones, allowCrossZone, diskGib },
      tags: machines.tags ?? {},
      waitForCapacitySeconds: secondsOf(machines.waitForCapacityMs ?? null),
    },
  };
}

const limitsOf = ({ settings: { maxCostMicros } }: ClusterSpec | JobSpec): Configuration['limits'] => ({
  maxCostDollars: maxCostMicros === undefined ? null : dollarsOf(maxCostMicros),
  ...{ idleTimeoutSeconds: null, noClientTimeoutSeconds: null, maxLifetimeSeconds: null },
  ...{ jobTimeoutSeconds: null, taskTimeoutSeconds: null, retries: null },
});

function softwareOf(
  { runtime, env, hostSetupScript }: { runtime: RuntimeSpec; env: object; hostSetupScript: string | null },
  jupyter: boolean,
): Configuration['software'] {
  const isPython = runtime.kind === 'environment';
  return {
    kind: runtime.kind,
    image: runtime.kind === 'container' ? runtime.image : null,
    python: isPython ? (runtime.python ?? null) : null,
    requirements: isPython ? runtime.requirements.map(withoutUrlSecrets) : [],
    packageFiles: isPython ? runtime.packageFiles : [],
    environmentVariables: Object.keys(env).toSorted(),
    hasHostSetupScript: hostSetupScript !== null,
    jupyter,
  };
}

const secondsOf = (ms: number | null): number | null => (ms === null ? null : ms / 1_000);

const notKept = (noun: 'cluster' | 'job', number: number) =>
  new RopewalkError({
    code: 'NOT_FOUND',
    message: `The specification of ${noun} ${number} is not kept any more.`,
    hint: 'The view of the API has what is known of it.',
  });
