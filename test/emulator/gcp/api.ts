// The operations of the Compute REST API that Ropewalk calls; any other path is 404, as Google answers an unknown method.
import { bulkInsert } from './bulk-insert.ts';
import { parseFilter } from './filter.ts';
import { insertInstance } from './insert-instance.ts';
import { GcpError, invalid, notFound } from './gcp-error.ts';
import {
  insertFirewall,
  insertNetwork,
  insertSubnetwork,
  networkNamed,
  patchFirewall,
  removeFirewall,
  removeNetwork,
  removeSubnetwork,
  subnetworkNamed,
} from './network.ts';
import {
  diskOf,
  firewallOf,
  instanceOf,
  linkOf,
  machineTypeOf,
  networkOf,
  operationOf,
  subnetworkOf,
} from './shapes.ts';
import { regionQuotas } from './quotas.ts';
import { statusAt } from './state.ts';
import type { Instance, Operation } from './state.ts';
import { machineTypes } from './types.ts';
import type { EmulatedProject } from './project.ts';

export interface Call {
  method: string;
  /** After `/compute/v1/projects/PROJECT/`. */
  path: string;
  query: URLSearchParams;
  body: unknown;
}

/** The operation's name for faults and counts, and its implementation. */
export interface Route {
  name: string;
  run: () => Promise<object> | object;
}

/** @throws GcpError when there is no such method. */
export function routeOf(project: EmulatedProject, { method, path, query, body }: Call): Route {
  const [scope = '', ...rest] = path.split('/');
  const at = `${method} ${scope === 'global' || scope === 'aggregated' ? scope : `${scope}/*`}`;
  const [place = '', kind = '', name = '', verb = ''] =
    scope === 'global' || scope === 'aggregated' ? ['', ...rest] : rest;
  switch (
    `${at} ${kind}${name === '' ? '' : kind === 'instances' && name === 'bulkInsert' ? ' bulkInsert' : ' *'}${verb === '' ? '' : ` ${verb}`}`.trim()
  ) {
    case 'POST regions/* instances bulkInsert':
      return {
        name: 'bulkInsert',
        run: () => (inRegion(project, place), operationOf(project, bulkInsert(project, body, query.get('requestId')))),
      };
    case 'POST zones/* instances':
      return {
        name: 'instances.insert',
        run: () => operationOf(project, insertInstance(project, place, body, query.get('requestId'))),
      };
    case 'GET zones/* instances *':
      return { name: 'instances.get', run: () => instanceOf(project, existing(project, place, name)) };
    case 'DELETE zones/* instances *':
      return {
        name: 'instances.delete',
        run: () => operationOf(project, project.remove(existing(project, place, name, 'hidden too'), 'delete')),
      };
    case 'GET aggregated instances':
      return {
        name: 'instances.aggregatedList',
        run: () => aggregated(project, 'instances', query, shownInstances(project)),
      };
    case 'GET aggregated disks':
      return { name: 'disks.aggregatedList', run: () => aggregated(project, 'disks', query, shownDisks(project)) };
    case 'GET aggregated operations':
      return {
        name: 'operations.aggregatedList',
        run: () =>
          aggregated(
            project,
            'operations',
            query,
            project.operations.map((each) => ({ scope: each.scope, resource: operationOf(project, each) })),
          ),
      };
    case 'DELETE zones/* disks *':
      return { name: 'disks.delete', run: () => removeDisk(project, place, name) };
    case 'GET zones/* machineTypes':
      return {
        name: 'machineTypes.list',
        run: () =>
          page(
            [...machineTypes.keys()].map((each) => machineTypeOf(project, place, each)),
            query,
          ),
      };
    case 'GET regions/* operations *':
      return { name: 'regionOperations.get', run: () => operationAt(project, `${scope}/${place}`, name) };
    case 'GET zones/* operations *':
      return { name: 'zoneOperations.get', run: () => operationAt(project, `${scope}/${place}`, name) };
    case 'GET global operations *':
      return { name: 'globalOperations.get', run: () => operationAt(project, 'global', name) };
    case 'POST regions/* operations * wait':
      return { name: 'regionOperations.wait', run: () => waitFor(project, `${scope}/${place}`, name) };
    case 'POST zones/* operations * wait':
      return { name: 'zoneOperations.wait', run: () => waitFor(project, `${scope}/${place}`, name) };
    case 'POST global operations * wait':
      return { name: 'globalOperations.wait', run: () => waitFor(project, 'global', name) };
    case 'GET regions/*':
      return { name: 'regions.get', run: () => regionOf(project, place) };
    case 'GET global networks *':
      return { name: 'networks.get', run: () => networkOf(project, networkNamed(project, name)) };
    case 'POST global networks':
      return { name: 'networks.insert', run: () => operationOf(project, insertNetwork(project, body)) };
    case 'DELETE global networks *':
      return { name: 'networks.delete', run: () => operationOf(project, removeNetwork(project, name)) };
    case 'GET aggregated subnetworks':
      return {
        name: 'subnetworks.aggregatedList',
        run: () =>
          aggregated(
            project,
            'subnetworks',
            query,
            [...project.subnetworks.values()].map((each) => ({
              scope: `regions/${each.region}`,
              resource: subnetworkOf(project, each),
            })),
          ),
      };
    case 'GET regions/* subnetworks *':
      return {
        name: 'subnetworks.get',
        run: () => subnetworkOf(project, subnetworkNamed(project, place, name)),
      };
    case 'POST regions/* subnetworks':
      return {
        name: 'subnetworks.insert',
        run: () => (inRegion(project, place), operationOf(project, insertSubnetwork(project, place, body))),
      };
    case 'DELETE regions/* subnetworks *':
      return { name: 'subnetworks.delete', run: () => operationOf(project, removeSubnetwork(project, place, name)) };
    case 'POST global firewalls':
      return { name: 'firewalls.insert', run: () => operationOf(project, insertFirewall(project, body)) };
    case 'GET global firewalls *':
      return { name: 'firewalls.get', run: () => firewallOf(project, existingFirewall(project, name)) };
    case 'PATCH global firewalls *':
      return { name: 'firewalls.patch', run: () => operationOf(project, patchFirewall(project, name, body)) };
    case 'GET global firewalls':
      return {
        name: 'firewalls.list',
        run: () =>
          page(
            [...project.firewalls.values()]
              .map((each) => firewallOf(project, each))
              .filter(parseFilter(query.get('filter') ?? '')),
            query,
          ),
      };
    case 'DELETE global firewalls *':
      return { name: 'firewalls.delete', run: () => operationOf(project, removeFirewall(project, name)) };
    default:
      throw new GcpError(404, 'notFound', `The emulator has no ${method} ${path}.`);
  }
}

function inRegion(project: EmulatedProject, region: string): void {
  if (zonesOf(project, region) === null) throw notFound(`projects/${project.id}/regions/${region}`);
}

/** Instances are launched in the first region only; the second one is for networks. */
function zonesOf(project: EmulatedProject, region: string): string[] | null {
  if (region === project.region) return project.zones;
  return region === 'europe-west4' ? ['a', 'b', 'c'].map((letter) => `europe-west4-${letter}`) : null;
}

function regionOf(project: EmulatedProject, region: string): object {
  inRegion(project, region);
  const zones = (zonesOf(project, region) ?? []).map((zone) => linkOf(project, `zones/${zone}`));
  return {
    kind: 'compute#region',
    name: region,
    status: 'UP',
    zones,
    quotas: regionQuotas(project),
    selfLink: linkOf(project, `regions/${region}`),
  };
}

function existingFirewall(project: EmulatedProject, name: string) {
  const found = project.firewalls.get(name);
  if (found === undefined) throw notFound(`projects/${project.id}/global/firewalls/${name}`);
  return found;
}

/** A new instance can be deleted before reads show it. */
function existing(project: EmulatedProject, zone: string, name: string, which: 'shown' | 'hidden too' = 'shown') {
  if (!project.zones.includes(zone)) throw notFound(`projects/${project.id}/zones/${zone}`);
  const found = which === 'shown' ? project.shown(zone, name) : project.existing(zone, name);
  if (found === null) throw notFound(`projects/${project.id}/zones/${zone}/instances/${name}`);
  return found;
}

interface Scoped {
  scope: string;
  resource: object;
}

const shownInstances = (project: EmulatedProject): Scoped[] =>
  project.instances
    .filter(({ zone, name, ...each }) => project.shown(zone, name)?.numericId === each.numericId)
    .map((instance) => ({ scope: `zones/${instance.zone}`, resource: instanceOf(project, instance) }));

/** Includes the disks that an instance uses, which have its name. */
const shownDisks = (project: EmulatedProject): Scoped[] => [
  ...[...project.disks.values()].map((disk) => ({
    scope: `zones/${disk.zone}`,
    resource: diskOf(project, disk, null),
  })),
  ...attached(project).map((disk) => ({
    scope: `zones/${disk.zone}`,
    resource: diskOf(project, disk, `zones/${disk.zone}/instances/${disk.name}`),
  })),
];

const attached = (project: EmulatedProject): Instance[] =>
  project.instances.filter((instance) => statusAt(instance, project.clock.nowMs()) !== null);

/** Pages are cut across scopes; an empty scope has a warning, as Google's do. */
function aggregated(project: EmulatedProject, kind: string, query: URLSearchParams, all: Scoped[]): object {
  const matches = parseFilter(query.get('filter') ?? '');
  const { items, nextPageToken } = cut(
    all.filter(({ resource }) => matches(resource)),
    query,
  );
  const scopes = project.zones.map((zone) => `zones/${zone}`);
  const places = [...new Set([...scopes, ...items.map(({ scope }) => scope)])];
  const entries = places.map((scope) => {
    const own = items.filter((each) => each.scope === scope).map(({ resource }) => resource);
    const warning = { code: 'NO_RESULTS_ON_PAGE', message: `There are no results for scope '${scope}' on this page.` };
    return [scope, own.length === 0 ? { warning } : { [kind]: own }];
  });
  return { kind: `compute#${kind}AggregatedList`, items: Object.fromEntries(entries), ...nextPageToken };
}

function page(all: object[], query: URLSearchParams): object {
  const { items, nextPageToken } = cut(all, query);
  return { items, ...nextPageToken };
}

function cut<T>(all: T[], query: URLSearchParams): { items: T[]; nextPageToken: { nextPageToken?: string } } {
  const size = Number(query.get('maxResults') ?? 500);
  if (!(size >= 0 && size <= 500)) throw invalid(`Invalid value for field 'maxResults': '${size}'.`);
  const from = Number(query.get('pageToken') ?? 0);
  const to = from + size;
  return { items: all.slice(from, to), nextPageToken: to < all.length ? { nextPageToken: String(to) } : {} };
}

function namedOperation(project: EmulatedProject, scope: string, name: string): Operation {
  const found = project.operations.find((each) => each.name === name && each.scope === scope);
  if (found === undefined) throw notFound(`projects/${project.id}/${scope}/operations/${name}`);
  return found;
}

const operationAt = (project: EmulatedProject, scope: string, name: string): object =>
  operationOf(project, namedOperation(project, scope, name));

/** Google holds the request until the operation is done, for two minutes at most. */
async function waitFor(project: EmulatedProject, scope: string, name: string): Promise<object> {
  const found = namedOperation(project, scope, name);
  const untilMs = project.clock.nowMs() + 2_000;
  while (project.clock.nowMs() < Math.min(found.doneAtMs(), untilMs))
    await new Promise((resolve) => setTimeout(resolve, 20));
  return operationOf(project, found);
}

const doneNow = (project: EmulatedProject, type: string, scope: string, target: string): Operation =>
  project.operation({ type, scope, target, groupId: null, doneAtMs: () => 0, error: null, perLocation: null });

function removeDisk(project: EmulatedProject, zone: string, name: string): object {
  const user = attached(project).find((each) => each.name === name && each.zone === zone);
  if (user !== undefined && !project.disks.has(`${zone}/${name}`))
    throw new GcpError(
      400,
      'resourceInUseByAnotherResource',
      `The disk resource 'projects/${project.id}/zones/${zone}/disks/${name}' is already being used by 'projects/${project.id}/zones/${zone}/instances/${name}'`,
    );
  if (!project.disks.delete(`${zone}/${name}`)) throw notFound(`projects/${project.id}/zones/${zone}/disks/${name}`);
  return operationOf(project, doneNow(project, 'delete', `zones/${zone}`, `zones/${zone}/disks/${name}`));
}
