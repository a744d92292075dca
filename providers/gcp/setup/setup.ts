// `ropewalk setup gcp`: plans the project's resources, applies the plan, and removes them again.
import { RopewalkError } from '../../../domain/errors.ts';
import type { ProviderSetup, QuotaReport, SetupInput, SetupPlan } from '../../manifest.ts';
import { nodeDownloads } from '../../node-downloads.ts';
import { type Quota, quotaUnit, readQuotas } from '../quotas.ts';
import { applySteps } from './apply.ts';
import { createCalls, explained, settled, type Calls } from './calls.ts';
import { findProject } from './find.ts';
import { type Found, type GcpStep, planProject, type RolePermissions } from './plan.ts';
import { carryOut, planRemovals } from './remove.ts';
import { readRoles } from './roles.ts';
import { addToSettings, regionsIn, removeFromSettings } from './settings-write.ts';
import { checkWanted, emailOf, tagName, type Wanted } from './wanted.ts';

const defaultRegion = 'us-central1';
const nodeReleases = 'https://nodejs.org/dist';

export const gcpSetup: ProviderSetup = {
  deploymentIn: (path) => regionsIn(path)[0]?.deployment ?? null,
  plan,
  planRemoval,
  quotas,
};

async function plan(input: SetupInput): Promise<SetupPlan> {
  const wanted = wantedOf(input);
  const roles = await readRoles();
  const permissions: RolePermissions = {
    'control-plane': roles['control-plane'].includedPermissions,
    instance: roles.instance.includedPermissions,
    'object-store': roles['object-store'].includedPermissions,
  };
  const found = await find(createCalls(input.env, wanted.project, never), wanted);
  const steps = planProject(found, wanted, permissions);
  return {
    account: wanted.project,
    steps: steps.map(withoutChange),
    apply: async (onDone, signal) => {
      // First, because nothing can be launched without it and it must not fail at the end.
      const mirror = input.env['ROPEWALK_NODE_MIRROR'] ?? nodeReleases;
      const node = regionsIn(input.settingsPath)[0]?.node ?? (await nodeDownloads(mirror));
      const calls = createCalls(input.env, wanted.project, signal);
      const isEnabling = ({ change }: GcpStep): boolean => change?.do === 'enable';
      await applySteps(calls, wanted, roles, steps.filter(isEnabling), onDone);
      // The resources of an API are visible only after it is enabled.
      const now = found.disabled.length === 0 ? found : await settled(calls, () => findProject(calls, wanted));
      const rest = planProject(now, wanted, permissions).filter((step) => !isEnabling(step));
      await applySteps(calls, wanted, roles, rest, onDone);
      const networkTags = { cluster: [tagName(wanted, 'cluster')], scheduler: [tagName(wanted, 'scheduler')] };
      const { project, name: network } = wanted;
      const serviceAccount = emailOf(wanted, 'instance');
      const { deploymentId: deployment } = input;
      const written = { deployment, project, network, networkTags, serviceAccount, node };
      await addToSettings(input.settingsPath, written, now.regions);
    },
    next: nextSteps(input, wanted),
  };
}

async function planRemoval(input: SetupInput): Promise<SetupPlan> {
  const wanted = { ...wantedOf(input), clientRanges: null };
  const calls = createCalls(input.env, wanted.project, never);
  const found = await find(calls, wanted);
  const isLast = found.subnets.every(({ region }) => wanted.regions.includes(region));
  const removals = await planRemovals(calls, found, wanted, isLast).catch((error: unknown) => {
    throw explained(`read project ${wanted.project}`, error);
  });
  return {
    account: wanted.project,
    steps: removals.map(({ step }) => step),
    apply: async (onDone, signal, onWait) => {
      await carryOut(createCalls(input.env, wanted.project, signal), removals, onDone, onWait);
      await removeFromSettings(input.settingsPath, wanted.regions);
    },
    next: isLast ? ['APIs stay enabled, and lines in Cloud Logging stay for their 30 days.'] : [],
  };
}

async function quotas({ regions, settingsPath, request, env, project: named }: QuotaQuestion): Promise<QuotaReport[]> {
  if (request !== null) {
    const hint = 'Ask for more in the Google Cloud console: IAM & Admin, Quotas.';
    throw new RopewalkError({ code: 'VALIDATION', message: 'setup gcp does not ask for quotas.', hint });
  }
  const project = projectOf({ env, settingsPath, project: named });
  const calls = createCalls(env, project, never);
  const report =
    (region: string) =>
    ({ metric, limit }: Quota): QuotaReport => ({
      ...{ region, name: metric, code: metric, value: limit, unit: quotaUnit(metric), pending: null, requested: false },
    });
  const all = await Promise.all(
    regionsOf(regions, settingsPath).map(async (region, at) => {
      const { everywhere, inRegion } = await readQuotas(calls, project, region).catch((error: unknown) => {
        throw explained(`quotas of ${region}`, error);
      });
      return [...(at === 0 ? everywhere.map(report('all regions')) : []), ...inRegion.map(report(region))];
    }),
  );
  return all.flat();
}

type QuotaQuestion = Parameters<ProviderSetup['quotas']>[0];

const find = (calls: Calls, wanted: Wanted): Promise<Found> =>
  findProject(calls, wanted).catch((error: unknown) => {
    throw explained(`read project ${wanted.project}`, error);
  });

function wantedOf(input: SetupInput): Wanted {
  const { deploymentId, name, clientRanges, network, controlPlaneRole, bucket } = input;
  if (network !== null || controlPlaneRole !== null) {
    const option = network === null ? '--control-plane-role' : '--network';
    const hint = 'For a network of yours, write the settings by hand (docs/gcp.md).';
    throw new RopewalkError({ code: 'VALIDATION', message: `${option} is an option of setup aws.`, hint });
  }
  const regions = regionsOf(input.regions, input.settingsPath);
  const wanted = { project: projectOf(input), deploymentId, name, regions, clientRanges, bucket };
  checkWanted(wanted);
  return wanted;
}

function projectOf({ env, settingsPath, project }: Pick<SetupInput, 'env' | 'settingsPath' | 'project'>): string {
  const known = regionsIn(settingsPath)[0]?.project;
  if (project !== null && known !== undefined && known !== project) {
    const message = `${settingsPath} is of the project ${known}, not of ${project}.`;
    throw new RopewalkError({ code: 'CONFLICT', message, hint: 'Name another file with --settings.' });
  }
  const found = project ?? known ?? env['GOOGLE_CLOUD_PROJECT'] ?? env['CLOUDSDK_CORE_PROJECT'];
  if (found !== undefined) return found;
  throw new RopewalkError({
    code: 'VALIDATION',
    field: 'project',
    message: 'There is no project to prepare.',
    hint: 'Name it with --project, or set GOOGLE_CLOUD_PROJECT.',
  });
}

function regionsOf(named: readonly string[], settingsPath: string): string[] {
  if (named.length > 0) return [...new Set(named)];
  const known = regionsIn(settingsPath).map(({ region }) => region);
  return known.length > 0 ? known : [defaultRegion];
}

function nextSteps({ settingsPath }: SetupInput, wanted: Wanted): string[] {
  const objects =
    wanted.bucket === null ? '' : ` and ROPEWALK_OBJECTS='gs://${wanted.bucket}/ropewalk?signedUrls=true'`;
  return [
    `Set ROPEWALK_GCP_SETTINGS=${settingsPath}${objects} for the API, every Temporal worker and ropewalk init.`,
    `Run them as ${emailOf(wanted, 'control-plane')}: the service account of their VM, or the account of GOOGLE_APPLICATION_CREDENTIALS.`,
    'Run ropewalk init, start the API and the Temporal workers, then ropewalk doctor. New grants may take minutes to work.',
    'Run ropewalk setup gcp --quotas: a new project may have few vCPUs and no GPUs.',
  ];
}

const withoutChange = ({ change: _change, ...step }: GcpStep) => step;
const never = new AbortController().signal;
