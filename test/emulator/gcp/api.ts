// The operations of the Compute REST API that Ropewalk calls; any other path is 404, as Google answers an unknown method.
import { bulkInsert } from './bulk-insert.ts';
import { parseFilter } from './filter.ts';
import { GcpError, invalid, notFound } from './gcp-error.ts';
import { diskOf, firewallOf, instanceOf, linkOf, machineTypeOf, operationOf } from './shapes.ts';
import type { Operation } from './state.ts';
import { machineTypes } from './types.ts';
import type { World } from './world.ts';

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
export function routeOf(world: World, { method, path, query, body }: Call): Route {
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
        run: () => (inRegion(world, place), operationOf(world, bulkInsert(world, body, query.get('requestId')))),
      };
    case 'GET zones/* instances *':
      return { name: 'instances.get', run: () => instanceOf(world, existing(world, place, name)) };
    case 'DELETE zones/* instances *':
      return {
        name: 'instances.delete',
        run: () => operationOf(world, world.remove(existing(world, place, name, 'hidden too'), 'delete')),
      };
    case 'GET aggregated instances':
      return {
        name: 'instances.aggregatedList',
        run: () => aggregated(world, 'instances', query, shownInstances(world)),
      };
    case 'GET aggregated disks':
      return { name: 'disks.aggregatedList', run: () => aggregated(world, 'disks', query, shownDisks(world)) };
    case 'GET aggregated operations':
      return {
        name: 'operations.aggregatedList',
        run: () =>
          aggregated(
            world,
            'operations',
            query,
            world.operations.map((each) => ({ scope: each.scope, resource: operationOf(world, each) })),
          ),
      };
    case 'DELETE zones/* disks *':
      return { name: 'disks.delete', run: () => removeDisk(world, place, name) };
    case 'GET zones/* machineTypes':
      return {
        name: 'machineTypes.list',
        run: () =>
          page(
            [...machineTypes.keys()].map((each) => machineTypeOf(world, place, each)),
            query,
          ),
      };
    case 'POST regions/* operations * wait':
    case 'POST zones/* operations * wait':
      return { name: 'operations.wait', run: () => waitFor(world, `${scope}/${place}`, name) };
    case 'POST global operations * wait':
      return { name: 'operations.wait', run: () => waitFor(world, 'global', name) };
    case 'POST global firewalls':
      return { name: 'firewalls.insert', run: () => insertFirewall(world, body) };
    case 'GET global firewalls':
      return {
        name: 'firewalls.list',
        run: () =>
          page(
            [...world.firewalls.values()]
              .map((each) => firewallOf(world, each))
              .filter(parseFilter(query.get('filter') ?? '')),
            query,
          ),
      };
    case 'DELETE global firewalls *':
      return { name: 'firewalls.delete', run: () => removeFirewall(world, name) };
    default:
      throw new GcpError(404, 'notFound', `The emulator has no ${method} ${path}.`);
  }
}

function inRegion(world: World, region: string): void {
  if (region !== world.region) throw notFound(`projects/${world.project}/regions/${region}`);
}

/** A new instance can be deleted before reads show it. */
function existing(world: World, zone: string, name: string, which: 'shown' | 'hidden too' = 'shown') {
  if (!world.zones.includes(zone)) throw notFound(`projects/${world.project}/zones/${zone}`);
  const found = which === 'shown' ? world.shown(zone, name) : world.existing(zone, name);
  if (found === null) throw notFound(`projects/${world.project}/zones/${zone}/instances/${name}`);
  return found;
}

interface Scoped {
  scope: string;
  resource: object;
}

const shownInstances = (world: World): Scoped[] =>
  world.instances
    .filter(({ zone, name, ...each }) => world.shown(zone, name)?.numericId === each.numericId)
    .map((instance) => ({ scope: `zones/${instance.zone}`, resource: instanceOf(world, instance) }));

const shownDisks = (world: World): Scoped[] =>
  [...world.disks.values()].map((disk) => ({ scope: `zones/${disk.zone}`, resource: diskOf(world, disk) }));

/** Pages are cut across scopes; a scope without anything says so with a warning, as Google's do. */
function aggregated(world: World, kind: string, query: URLSearchParams, all: Scoped[]): object {
  const matches = parseFilter(query.get('filter') ?? '');
  const { items, nextPageToken } = cut(
    all.filter(({ resource }) => matches(resource)),
    query,
  );
  const scopes = world.zones.map((zone) => `zones/${zone}`);
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
async function waitFor(world: World, scope: string, name: string): Promise<object> {
  const found = world.operations.find((each) => each.name === name && each.scope === scope);
  if (found === undefined) throw notFound(`projects/${world.project}/${scope}/operations/${name}`);
  const untilMs = world.clock.nowMs() + 2_000;
  while (world.clock.nowMs() < Math.min(found.doneAtMs(), untilMs))
    await new Promise((resolve) => setTimeout(resolve, 20));
  return operationOf(world, found);
}

const doneNow = (world: World, type: string, scope: string, target: string): Operation =>
  world.operation({ type, scope, target, groupId: null, doneAtMs: () => 0, error: null, perLocation: null });

function removeDisk(world: World, zone: string, name: string): object {
  if (!world.disks.delete(`${zone}/${name}`)) throw notFound(`projects/${world.project}/zones/${zone}/disks/${name}`);
  return operationOf(world, doneNow(world, 'delete', `zones/${zone}`, `zones/${zone}/disks/${name}`));
}

function insertFirewall(world: World, body: unknown): object {
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
  if (world.firewalls.has(name))
    throw new GcpError(
      409,
      'alreadyExists',
      `The resource '${linkOf(world, `global/firewalls/${name}`)}' already exists`,
    );
  const ports = allowed.flatMap((each) => each.ports ?? []);
  world.firewalls.set(name, {
    name,
    description,
    network,
    sourceRanges,
    targetTags,
    ports,
    createdAtMs: world.clock.nowMs(),
  });
  return operationOf(world, doneNow(world, 'insert', 'global', `global/firewalls/${name}`));
}

function removeFirewall(world: World, name: string): object {
  if (!world.firewalls.delete(name)) throw notFound(`projects/${world.project}/global/firewalls/${name}`);
  return operationOf(world, doneNow(world, 'delete', 'global', `global/firewalls/${name}`));
}
