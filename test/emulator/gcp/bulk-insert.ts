// regionInstances.bulkInsert: the request as Google validates it, and which zone and machine types it is served from.
import { randomBytes } from 'node:crypto';

import { z } from 'zod';

import { GcpError, invalid } from './gcp-error.ts';
import { isLive } from './state.ts';
import type { Market, Operation } from './state.ts';
import { machineTypes } from './types.ts';
import type { EmulatedProject } from './project.ts';

const int64 = z.union([z.string().regex(/^\d+$/), z.number().int()]).transform(Number);
const resourceName = z.string().regex(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/);
const labels = z
  .record(z.string().regex(/^[a-z][a-z0-9_-]{0,62}$/), z.string().regex(/^[a-z0-9_-]{0,63}$/))
  .refine((all) => Object.keys(all).length <= 64, 'at most 64 labels');
const bareName = z.string().regex(/^[a-z0-9-]+$/);
const disk = z.object({
  boot: z.literal(true),
  autoDelete: z.boolean().default(false),
  initializeParams: z.object({
    sourceImage: z.string().regex(/^projects\/[a-z0-9-]+\/global\/images\/(family\/)?[a-z0-9-]+$/),
    diskSizeGb: int64.pipe(z.number().min(10)),
    diskType: bareName,
    labels: labels.default({}),
    provisionedThroughput: int64.pipe(z.number().min(140).max(2_400)).optional(),
  }),
});
const properties = z.object({
  machineType: z.string().optional(),
  labels: labels.default({}),
  tags: z.object({ items: z.array(resourceName) }).optional(),
  metadata: z
    .object({ items: z.array(z.object({ key: z.string(), value: z.string().max(262_144) })).default([]) })
    .optional(),
  disks: z.array(disk).min(1),
  networkInterfaces: z
    .array(
      z.object({
        network: z.string().optional(),
        subnetwork: z.string().optional(),
        accessConfigs: z
          .array(z.object({ type: z.literal('ONE_TO_ONE_NAT'), name: z.string().optional() }))
          .default([]),
      }),
    )
    .length(1),
  serviceAccounts: z.array(z.object({ email: z.string(), scopes: z.array(z.string()).min(1) })).default([]),
  guestAccelerators: z.array(z.object({ acceleratorType: bareName, acceleratorCount: z.number().int() })).default([]),
  scheduling: z
    .object({
      provisioningModel: z.enum(['STANDARD', 'SPOT']).default('STANDARD'),
      instanceTerminationAction: z.enum(['DELETE', 'STOP']).optional(),
      automaticRestart: z.boolean().optional(),
      onHostMaintenance: z.enum(['MIGRATE', 'TERMINATE']).optional(),
      maxRunDuration: z.object({ seconds: int64 }).optional(),
    })
    .default({ provisioningModel: 'STANDARD' }),
});
const request = z.object({
  count: int64,
  minCount: int64.optional(),
  perInstanceProperties: z.record(resourceName, z.object({})),
  instanceProperties: properties,
  locationPolicy: z.object({
    targetShape: z.enum(['ANY', 'ANY_SINGLE_ZONE', 'BALANCED']).default('ANY_SINGLE_ZONE'),
    locations: z.record(z.string(), z.object({ preference: z.enum(['ALLOW', 'DENY']) })).default({}),
  }),
  instanceFlexibilityPolicy: z
    .object({
      instanceSelections: z.record(
        resourceName,
        z.object({ machineTypes: z.array(bareName).min(1), rank: int64.default(0), disks: z.array(disk).optional() }),
      ),
    })
    .optional(),
});
type Request = z.infer<typeof request>;

interface Shape {
  machineType: string;
  diskType: string;
}

export function bulkInsert(project: EmulatedProject, body: unknown, requestId: string | null): Operation {
  const earlier = project.requests.get(requestId ?? '');
  // Google compares the id alone: the content of the repeated request is ignored.
  if (earlier !== undefined) return operationNamed(project, earlier);
  if (requestId !== null && !/^(?!0{8}-)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(requestId))
    throw invalid(`Invalid value for field 'requestId': '${requestId}'.`);
  const bareUrl = /"machineTypes?":\s*\[?"[^"]*\//.exec(JSON.stringify(body));
  if (bareUrl !== null)
    throw new GcpError(503, 'backendError', 'Internal error. Please try again or contact Google Support.');
  const wanted = request.safeParse(body);
  if (!wanted.success) throw invalid(`Invalid value for field: ${z.prettifyError(wanted.error)}`);
  check(project, wanted.data);
  const operation = insert(project, wanted.data, requestId ?? '');
  if (requestId !== null) project.requests.set(requestId, operation.name);
  return operation;
}

function check(project: EmulatedProject, { count, minCount = count, ...wanted }: Request): void {
  const { scheduling, networkInterfaces, serviceAccounts, guestAccelerators } = wanted.instanceProperties;
  const names = Object.keys(wanted.perInstanceProperties);
  if (names.length !== count) throw invalid(`perInstanceProperties has ${names.length} names and count is ${count}.`);
  if (minCount < 1 || minCount > count) throw invalid("Invalid value for field 'resource.minCount'.");
  const isSpot = scheduling.provisioningModel === 'SPOT';
  if (isSpot && (scheduling.automaticRestart !== false || scheduling.onHostMaintenance !== 'TERMINATE'))
    throw invalid(
      'Scheduling must have automaticRestart = false and onHostMaintenance = TERMINATE when SPOT is requested.',
    );
  if (guestAccelerators.length > 0 && scheduling.onHostMaintenance !== 'TERMINATE')
    throw invalid('Instances with guest accelerators do not support live migration.');
  if (scheduling.maxRunDuration !== undefined && scheduling.instanceTerminationAction === undefined)
    throw invalid('You must specify an instanceTerminationAction with a maxRunDuration.');
  const { seconds = 30 } = scheduling.maxRunDuration ?? {};
  if (seconds < 30 || seconds > 120 * 86_400) throw invalid('maxRunDuration must be 30 seconds to 120 days.');
  for (const { network = '', subnetwork = '' } of networkInterfaces) {
    const found = project.subnetworks.get(`${project.region}/${subnetwork.split('/').at(-1)}`);
    if (found === undefined || !subnetwork.includes(`regions/${project.region}/subnetworks/`))
      throw invalid(
        `Invalid value for field 'subnetwork': '${subnetwork}'. The referenced subnetwork resource cannot be found.`,
      );
    if (network !== '' && !network.endsWith(`global/networks/${found.network}`))
      throw new GcpError(400, 'wrongSubnetwork', `Subnetwork ${found.name} is not of network ${network}.`);
  }
  for (const { email } of serviceAccounts)
    if (!project.iam.accounts.has(email))
      throw invalid(`The resource '${email}' of type 'serviceAccount' was not found.`);
  for (const { machineType, diskType } of shapesOf(wanted)) {
    const type = machineTypes.get(machineType);
    if (type === undefined)
      throw invalid(`Machine type with name '${machineType}' does not exist in region '${project.region}'.`);
    if ((type.disks === 'hyperdisk') !== diskType.startsWith('hyperdisk'))
      throw invalid(`[${diskType}] features are not compatible for creating instance of ${machineType}.`);
    if (guestAccelerators.length > 0 && !machineType.startsWith('n1-'))
      throw invalid(`[${machineType}] features and [accelerator] are not compatible for creating instance.`);
  }
  const taken = names.find((name) => project.zones.some((zone) => project.shown(zone, name) !== null));
  if (taken !== undefined) throw new GcpError(409, 'alreadyExists', `The resource '${taken}' already exists`);
}

/** One that exists from the start. */
export const serviceAccount = 'ropewalk@test-project.iam.gserviceaccount.com';

function shapesOf({
  instanceProperties,
  instanceFlexibilityPolicy,
}: Pick<Request, 'instanceProperties' | 'instanceFlexibilityPolicy'>): Shape[] {
  const common = instanceProperties.disks[0]?.initializeParams.diskType ?? '';
  const selections = Object.values(instanceFlexibilityPolicy?.instanceSelections ?? {}).toSorted(
    (a, b) => a.rank - b.rank,
  );
  if (selections.length === 0) return [{ machineType: instanceProperties.machineType ?? '', diskType: common }];
  return selections.flatMap(({ machineTypes: names, disks }) =>
    names.map((machineType) => ({ machineType, diskType: disks?.[0]?.initializeParams.diskType ?? common })),
  );
}

function insert(
  project: EmulatedProject,
  { count, minCount = count, ...wanted }: Request,
  requestId: string,
): Operation {
  const { locations, targetShape } = wanted.locationPolicy;
  const allowsSome = Object.values(locations).some(({ preference }) => preference === 'ALLOW');
  const zones = project.zones.filter((zone) => {
    const preference = locations[`zones/${zone}`]?.preference;
    return allowsSome ? preference === 'ALLOW' : preference !== 'DENY';
  });
  const shapes = shapesOf(wanted);
  const market: Market = wanted.instanceProperties.scheduling.provisioningModel === 'SPOT' ? 'spot' : 'on-demand';
  const byZone = zones.map((zone) => ({ zone, ...roomIn(project, { zone, shapes, market, count }) }));
  const best = byZone.toSorted((a, b) => b.taken.length - a.taken.length)[0];
  const chosen = targetShape === 'ANY_SINGLE_ZONE' ? [best] : byZone;
  const groupId = randomBytes(8).toString('hex');
  const names = Object.keys(wanted.perInstanceProperties);
  const placed = chosen
    .flatMap((each) => (each?.taken ?? []).map((shape) => ({ ...shape, zone: each?.zone ?? '' })))
    .slice(0, count);
  const why = chosen.find((each) => each?.problem !== null)?.problem ?? noCapacity(zones[0] ?? project.region);
  const kept = placed.length >= minCount ? placed : [];
  const { instanceProperties: of } = wanted;
  const nowMs = project.clock.nowMs();
  const doneAtMs = nowMs + project.delays.pendingMs;
  const done = (): number => doneAtMs;
  kept.forEach(({ zone, machineType, diskType }, at) => {
    const [accelerator] = of.guestAccelerators;
    const instance = project.launch({
      ...{ name: names[at] ?? '', requestId, zone, machineType, diskType, market, labels: of.labels },
      accelerator:
        accelerator === undefined ? null : { type: accelerator.acceleratorType, count: accelerator.acceleratorCount },
      metadata: Object.fromEntries((of.metadata?.items ?? []).map(({ key, value }) => [key, value])),
      serviceAccount: of.serviceAccounts[0]?.email ?? null,
      networkTags: of.tags?.items ?? [],
      subnetwork: of.networkInterfaces[0]?.subnetwork?.split('/').at(-1) ?? '',
      maxRunSeconds: of.scheduling.maxRunDuration?.seconds ?? null,
      hasPublicIp: (of.networkInterfaces[0]?.accessConfigs.length ?? 0) > 0,
    });
    child(project, groupId, `zones/${zone}/instances/${instance.name}`, done, null);
  });
  // Of an instance that could not be created there is an operation too, with the reason.
  const zone = best?.zone ?? project.zones[0] ?? '';
  for (const name of names.slice(kept.length)) child(project, groupId, `zones/${zone}/instances/${name}`, done, why);
  return project.operation({
    ...{
      type: 'bulkInsert',
      scope: `regions/${project.region}`,
      target: `regions/${project.region}`,
      groupId,
      doneAtMs: done,
    },
    error: kept.length === 0 ? why : null,
    perLocation: Object.fromEntries(
      zones.map((each) => {
        const created = kept.filter((one) => one.zone === each).length;
        const failed = each === zone ? count - kept.length : 0;
        return [each, { targetVmCount: created + failed, createdVmCount: created, failedToCreateVmCount: failed }];
      }),
    ),
  });
}

function child(
  project: EmulatedProject,
  groupId: string,
  target: string,
  doneAtMs: () => number,
  error: Operation['error'],
): void {
  const scope = target.split('/').slice(0, 2).join('/');
  project.operation({ type: 'insert', scope, target, groupId, doneAtMs, error, perLocation: null });
}

interface Room {
  taken: Shape[];
  problem: Operation['error'];
}

/** As many as fit into this zone, the first shape first. */
function roomIn(
  project: EmulatedProject,
  { zone, shapes, market, count }: { zone: string; shapes: Shape[]; market: Market; count: number },
): Room {
  const live = project.instances.filter((instance) => isLive(instance, project.clock.nowMs()));
  const taken: Shape[] = [];
  let problem: Operation['error'] = null;
  const metric = market === 'spot' ? 'PREEMPTIBLE_CPUS' : 'CPUS';
  const quota = project.quotas.get(metric) ?? Number.POSITIVE_INFINITY;
  const cpusOf = (type: string): number => machineTypes.get(type)?.vcpus ?? 0;
  let used = live.reduce((sum, each) => sum + (each.market === market ? cpusOf(each.machineType) : 0), 0);
  for (const shape of shapes) {
    const key = `${shape.machineType}/${zone}/${market}`;
    const planned = project.poolErrors.get(key);
    const there = live.filter((each) => `${each.machineType}/${each.zone}/${each.market}` === key).length;
    const capacity = planned === undefined ? (project.capacity.get(key) ?? Number.POSITIVE_INFINITY) : 0;
    const byQuota = Math.floor((quota - used) / cpusOf(shape.machineType));
    const fits = Math.max(0, Math.min(count - taken.length, capacity - there, byQuota));
    taken.push(...Array.from({ length: fits }, () => shape));
    used += fits * cpusOf(shape.machineType);
    if (taken.length === count) return { taken, problem: null };
    problem ??= planned ?? (byQuota <= fits ? overQuota(metric, quota, project.region) : noCapacity(zone));
  }
  return { taken, problem };
}

const noCapacity = (zone: string) => ({
  code: 'ZONE_RESOURCE_POOL_EXHAUSTED',
  message: `The zone 'projects/test-project/zones/${zone}' does not have enough resources available to fulfill the request.  Try a different zone, or try again later.`,
});

const overQuota = (metric: string, limit: number, region: string) => ({
  code: 'QUOTA_EXCEEDED',
  message: `Quota '${metric}' exceeded.  Limit: ${limit}.0 in region ${region}.`,
});

function operationNamed(project: EmulatedProject, name: string): Operation {
  const found = project.operations.find((operation) => operation.name === name);
  if (found === undefined) throw new Error(`no operation ${name}`);
  return found;
}
