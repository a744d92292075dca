// regionInstances.bulkInsert: chooses the zone and the machine types of a request.
import { randomBytes } from 'node:crypto';

import { checkRequest, parseRequest, shapesOf } from './bulk-insert-body.ts';
import type { Request, Shape } from './bulk-insert-body.ts';
import { GcpError, invalid } from './gcp-error.ts';
import { isLive } from './state.ts';
import type { Market, Operation } from './state.ts';
import { machineTypeNamed } from './types.ts';
import type { EmulatedProject } from './project.ts';

export function bulkInsert(project: EmulatedProject, body: unknown, requestId: string | null): Operation {
  const earlier = project.requests.get(requestId ?? '');
  // Google compares the id alone: the content of the repeated request is ignored.
  if (earlier !== undefined) return operationNamed(project, earlier);
  if (requestId !== null && !/^(?!0{8}-)[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(requestId))
    throw invalid(`Invalid value for field 'requestId': '${requestId}'.`);
  const bareUrl = /"machineTypes?":\s*\[?"[^"]*\//.exec(JSON.stringify(body));
  if (bareUrl !== null)
    throw new GcpError(503, 'backendError', 'Internal error. Please try again or contact Google Support.');
  const wanted = parseRequest(body);
  checkRequest(project, wanted);
  const operation = insert(project, wanted, requestId ?? '');
  if (requestId !== null) project.requests.set(requestId, operation.name);
  return operation;
}

/** A service account that exists from the start. */
export const serviceAccount = 'ropewalk@test-project.iam.gserviceaccount.com';

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
  // An instance that could not be created has an operation too, with the reason.
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

/** The number of instances that fit into this zone, in the order of the shapes. */
function roomIn(
  project: EmulatedProject,
  { zone, shapes, market, count }: { zone: string; shapes: Shape[]; market: Market; count: number },
): Room {
  const live = project.instances.filter((instance) => isLive(instance, project.clock.nowMs()));
  const taken: Shape[] = [];
  let problem: Operation['error'] = null;
  const metric = market === 'spot' ? 'PREEMPTIBLE_CPUS' : 'CPUS';
  const quota = project.quotas.get(metric) ?? Number.POSITIVE_INFINITY;
  const cpusOf = (type: string): number => machineTypeNamed(type)?.vcpus ?? 0;
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
