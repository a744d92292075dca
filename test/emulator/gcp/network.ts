// Networks, subnetworks and firewall rules of the project.
import { z } from 'zod';

import { GcpError, invalid, notFound } from './gcp-error.ts';
import { linkOf } from './shapes.ts';
import { overlaps, readRange } from '../ec2/cidr.ts';
import { statusAt } from './state.ts';
import type { Operation } from './state.ts';
import type { EmulatedProject } from './project.ts';

export interface Network {
  name: string;
  description: string;
}

export interface Subnetwork {
  name: string;
  region: string;
  network: string;
  cidr: string;
  description: string;
}

const name = z.string().regex(/^[a-z]([-a-z0-9]{0,61}[a-z0-9])?$/);
const description = z.string().max(2_048).default('');
const networkBody = z.strictObject({
  ...{ name, description, autoCreateSubnetworks: z.literal(false) },
  routingConfig: z.strictObject({ routingMode: z.enum(['REGIONAL', 'GLOBAL']) }).optional(),
});
const cidr = z.string().regex(/^(\d{1,3}\.){3}\d{1,3}\/\d{1,2}$/);
const subnetBody = z.strictObject({
  ...{ name, description, network: z.string(), ipCidrRange: cidr },
  privateIpGoogleAccess: z.boolean().optional(),
});
const rule = z.strictObject({
  sourceRanges: z
    .array(z.union([z.cidrv4(), z.cidrv6()]))
    .max(5_000)
    .default([]),
  sourceTags: z.array(name).max(30).default([]),
  targetTags: z.array(name).max(70).default([]),
  allowed: z
    .array(
      z
        .strictObject({
          IPProtocol: z.string().regex(/^(all|tcp|udp|icmp|esp|ah|sctp|ipip|\d{1,3})$/),
          ports: z.array(z.string()).default([]),
        })
        .refine(
          ({ IPProtocol, ports }) => ports.length === 0 || /^(tcp|udp|sctp)$/.test(IPProtocol),
          'ports of no port protocol',
        )
        .refine(({ ports }) => ports.every(isPortRange), 'no port'),
    )
    .min(1),
});
const firewallBody = rule.extend({
  name,
  description,
  network: z.string(),
  direction: z.literal('INGRESS').default('INGRESS'),
});

function isPortRange(text: string): boolean {
  const [from = '', to = from, ...more] = text.split('-');
  const arePorts = [from, to].every((port) => /^\d{1,5}$/.test(port) && Number(port) <= 65_535);
  return arePorts && more.length === 0 && Number(from) <= Number(to);
}

export function insertNetwork(project: EmulatedProject, body: unknown): Operation {
  const wanted = parsed(networkBody, body);
  requireFree(project, `global/networks/${wanted.name}`, project.networks.has(wanted.name));
  project.networks.set(wanted.name, { name: wanted.name, description: wanted.description });
  return done(project, 'insert', 'global', `global/networks/${wanted.name}`);
}

/** Google accepts the call, and the operation fails; for a subnetwork it refuses the call itself. */
export function removeNetwork(project: EmulatedProject, of: string): Operation {
  networkNamed(project, of);
  const users = [
    ...[...project.subnetworks.values()].filter(({ network }) => network === of).map((each) => each.name),
    ...[...project.firewalls.values()].filter(({ network }) => lastOf(network) === of).map((each) => each.name),
  ];
  if (users.length > 0) {
    const message = `The network resource 'projects/${project.id}/global/networks/${of}' is already being used by '${users[0]}'`;
    const error = { code: 'RESOURCE_IN_USE_BY_ANOTHER_RESOURCE', message };
    return { ...done(project, 'delete', 'global', `global/networks/${of}`), error };
  }
  project.networks.delete(of);
  return done(project, 'delete', 'global', `global/networks/${of}`);
}

export function networkNamed(project: EmulatedProject, of: string): Network {
  const found = project.networks.get(of);
  if (found === undefined) throw notFound(`projects/${project.id}/global/networks/${of}`);
  return found;
}

export function insertSubnetwork(project: EmulatedProject, region: string, body: unknown): Operation {
  const wanted = parsed(subnetBody, body);
  const path = `regions/${region}/subnetworks/${wanted.name}`;
  const network = networkNamed(project, lastOf(wanted.network)).name;
  requireFree(project, path, project.subnetworks.has(`${region}/${wanted.name}`));
  const overlap = [...project.subnetworks.values()].find(
    (each) => each.network === network && isOverlap(each.cidr, wanted.ipCidrRange),
  );
  if (overlap !== undefined)
    throw invalid(`Invalid IPCidrRange: ${wanted.ipCidrRange} conflicts with existing subnetwork '${overlap.name}'.`);
  project.subnetworks.set(`${region}/${wanted.name}`, {
    ...{ name: wanted.name, region, network, cidr: wanted.ipCidrRange, description: wanted.description },
  });
  return done(project, 'insert', `regions/${region}`, path);
}

export function subnetworkNamed(project: EmulatedProject, region: string, of: string): Subnetwork {
  const found = project.subnetworks.get(`${region}/${of}`);
  if (found === undefined) throw notFound(`projects/${project.id}/regions/${region}/subnetworks/${of}`);
  return found;
}

function isOverlap(one: string, other: string): boolean {
  const [a, b] = [readRange(one), readRange(other)];
  if (b === null || b.prefix < 4 || b.prefix > 29)
    throw invalid(`Invalid value for field 'resource.ipCidrRange': '${other}'.`);
  return a !== null && overlaps(a, b);
}

export function removeSubnetwork(project: EmulatedProject, region: string, of: string): Operation {
  const path = `regions/${region}/subnetworks/${of}`;
  const user = project.instances.find(
    (each) =>
      each.subnetwork === of && each.zone.startsWith(`${region}-`) && statusAt(each, project.clock.nowMs()) !== null,
  );
  if (user !== undefined)
    throw new GcpError(
      400,
      'resourceInUseByAnotherResource',
      `The subnetwork resource 'projects/${project.id}/${path}' is already being used by 'projects/${project.id}/zones/${user.zone}/instances/${user.name}'`,
    );
  if (!project.subnetworks.delete(`${region}/${of}`)) throw notFound(`projects/${project.id}/${path}`);
  return done(project, 'delete', `regions/${region}`, path);
}

export function insertFirewall(project: EmulatedProject, body: unknown): Operation {
  const wanted = parsed(firewallBody, body);
  checkRule(wanted);
  if (!new RegExp(`^(https://[^/]+/compute/v1/)?(projects/${project.id}/)?global/networks/[^/]+$`).test(wanted.network))
    throw invalid(`Invalid value for field 'resource.network': '${wanted.network}'.`);
  networkNamed(project, lastOf(wanted.network));
  requireFree(project, `global/firewalls/${wanted.name}`, project.firewalls.has(wanted.name));
  const { allowed, direction: _direction, ...rest } = wanted;
  const createdAtMs = project.clock.nowMs();
  project.firewalls.set(wanted.name, { ...rest, ...allowedIn(allowed), createdAtMs });
  return done(project, 'insert', 'global', `global/firewalls/${wanted.name}`);
}

export function patchFirewall(project: EmulatedProject, of: string, body: unknown): Operation {
  const found = project.firewalls.get(of);
  if (found === undefined) throw notFound(`projects/${project.id}/global/firewalls/${of}`);
  const wanted = parsed(rule, body);
  checkRule(wanted);
  const { allowed, ...rest } = wanted;
  Object.assign(found, rest, allowedIn(allowed));
  return done(project, 'patch', 'global', `global/firewalls/${of}`);
}

export function removeFirewall(project: EmulatedProject, of: string): Operation {
  if (!project.firewalls.delete(of)) throw notFound(`projects/${project.id}/global/firewalls/${of}`);
  return done(project, 'delete', 'global', `global/firewalls/${of}`);
}

const allowedIn = (allowed: z.infer<typeof rule>['allowed']) => ({
  protocol: allowed[0]?.IPProtocol ?? '',
  ports: allowed.flatMap(({ ports }) => ports),
});

function checkRule({ sourceRanges, sourceTags }: z.infer<typeof rule>): void {
  if (sourceRanges.length + sourceTags.length === 0) throw invalid("Invalid value for field 'resource'.");
  if (new Set(sourceRanges.map((range) => range.includes(':'))).size > 1)
    throw invalid('Firewall rules cannot mix IPv4 and IPv6 source ranges.');
}

function parsed<T extends z.ZodType>(schema: T, body: unknown): z.output<T> {
  const result = schema.safeParse(body);
  if (!result.success) throw invalid(`Invalid value for field: ${z.prettifyError(result.error)}`);
  return result.data;
}

function requireFree(project: EmulatedProject, path: string, isTaken: boolean): void {
  if (isTaken) throw new GcpError(409, 'alreadyExists', `The resource '${linkOf(project, path)}' already exists`);
}

function done(project: EmulatedProject, type: string, scope: string, target: string): Operation {
  const doneAtMs = project.clock.nowMs() + project.delays.changeMs;
  const of = { type, scope, target, groupId: null, error: null, perLocation: null };
  return project.operation({ ...of, doneAtMs: () => doneAtMs });
}

const lastOf = (url: string): string => url.split('/').at(-1) ?? '';
