// The operations of the Compute REST API that Ropewalk calls; any other path is 404, as Google answers an unknown method.
import { bulkInsert } from './bulk-insert.ts';
import { parseFilter } from './filter.ts';
import { GcpError, invalid, notFound } from './gcp-error.ts';
import { diskOf, firewallOf, instanceOf, linkOf, machineTypeOf, operationOf } from './shapes.ts';
import type { Operation } from './state.ts';
import { machineTypes } from './types.ts';
import type { EmulatedProject } from './project.ts';

export interface Call {
  method: string;
  /** After `/compute/v1/projects/PROJECT/`. */
  path: string;
  query: URLSearchParams;
  body: unknown;
}

/** The name by which faults and counts know an operation, and what carries it out. */
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
    `${at} ${kind}${name === '' ? '' : kind === 'instances' && name === 'bulkInsert' ? ' bulkInsert' : ' *'}${verb === '' ? '' : ` ${verb}`}`
  ) {
    case 'POST regions/* instances bulkInsert':
      return {
        name: 'bulkInsert',
        run: () => (inRegion(project, place), operationOf(project, bulkInsert(project, body, query.get('requestId')))),
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
    case 'POST regions/* operations * wait':
    case 'POST zones/* operations * wait':
      return { name: 'operations.wait', run: () => waitFor(project, `${scope}/${place}`, name) };
    case 'POST global operations * wait':
      return { name: 'operations.wait', run: () => waitFor(project, 'global', name) };
    case 'POST global firewalls':
      return { name: 'firewalls.insert', run: () => insertFirewall(project, body) };
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
      return { name: 'firewalls.delete', run: () => removeFirewall(project, name) };
    default:
      throw new GcpError(404, 'notFound', `The emulator has no ${method} ${path}.`);
  }
}

function inRegion(project: EmulatedProject, region: string): void {
  if (region !== project.region) throw notFound(`projects/${project.id}/regions/${region}`);
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

const shownDisks = (project: EmulatedProject): Scoped[] =>
  [...project.disks.values()].map((disk) => ({ scope: `zones/${disk.zone}`, resource: diskOf(project, disk) }));

/** Pages are cut across scopes; a scope without anything says so with a warning, as Google's do. */
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

/** Google holds the request until the operation is done, for two minutes at most. */
async function waitFor(project: EmulatedProject, scope: string, name: string): Promise<object> {
  const found = project.operations.find((each) => each.name === name && each.scope === scope);
  if (found === undefined) throw notFound(`projects/${project.id}/${scope}/operations/${name}`);
  const untilMs = project.clock.nowMs() + 2_000;
  while (project.clock.nowMs() < Math.min(found.doneAtMs(), untilMs))
    await new Promise((resolve) => setTimeout(resolve, 20));
  return operationOf(project, found);
}

const doneNow = (project: EmulatedProject, type: string, scope: string, target: string): Operation =>
  project.operation({ type, scope, target, groupId: null, doneAtMs: () => 0, error: null, perLocation: null });

function removeDisk(project: EmulatedProject, zone: string, name: string): object {
  if (!project.disks.delete(`${zone}/${name}`)) throw notFound(`projects/${project.id}/zones/${zone}/disks/${name}`);
  return operationOf(project, doneNow(project, 'delete', `zones/${zone}`, `zones/${zone}/disks/${name}`));
}

function insertFirewall(project: EmulatedProject, body: unknown): object {
  const value: {
    name?: string;
    description?: string;
    network?: string;
    sourceRanges?: string[];
    targetTags?: string[];
    allowed?: { IPProtocol?: string; ports?: string[] }[];
  } = typeof body === 'object' && body !== null ? body : {};
  const { name = '', description = '', network = '', sourceRanges = [], targetTags = [], allowed = [] } = value;
  if (!/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/.test(name))
    throw invalid(`Invalid value for field 'resource.name': '${name}'.`);
  if (sourceRanges.length === 0 || allowed.length === 0) throw invalid("Invalid value for field 'resource'.");
  if (new Set(sourceRanges.map((range) => range.includes(':'))).size > 1)
    throw invalid('Firewall rules cannot mix IPv4 and IPv6 source ranges.');
  if (!network.endsWith('global/networks/ropewalk')) throw notFound(network);
  if (project.firewalls.has(name))
    throw new GcpError(
      409,
      'alreadyExists',
      `The resource '${linkOf(project, `global/firewalls/${name}`)}' already exists`,
    );
  const ports = allowed.flatMap((each) => each.ports ?? []);
  project.firewalls.set(name, {
    name,
    description,
    network,
    sourceRanges,
    targetTags,
    ports,
    createdAtMs: project.clock.nowMs(),
  });
  return operationOf(project, doneNow(project, 'insert', 'global', `global/firewalls/${name}`));
}

function removeFirewall(project: EmulatedProject, name: string): object {
  if (!project.firewalls.delete(name)) throw notFound(`projects/${project.id}/global/firewalls/${name}`);
  return operationOf(project, doneNow(project, 'delete', 'global', `global/firewalls/${name}`));
}
