// The control API of the project for tests: POST /_control with one order.
import { z } from 'zod';

import type { LedgerEntry } from '../ledger.ts';
import { controlPlaneToken } from './access.ts';
import type { Policy, Role } from './iam.ts';
import type { Network, Subnetwork } from './network.ts';
import { isLive, statusAt } from './state.ts';
import type { Firewall, Instance } from './state.ts';
import { createBucket } from './storage.ts';
import { plant, plantable } from './plant.ts';
import type { EmulatedProject } from './project.ts';

const fault = z.object({
  action: z.string(),
  nth: z.number().int().min(1).default(1),
  times: z.number().int().min(1).default(1),
  kind: z.enum(['error', 'lost', 'cut']),
  /** `reason` of the error. */
  code: z.string().default('backendError'),
  message: z.string().default('Backend Error'),
  status: z.number().int().default(503),
});
export const order = z.discriminatedUnion('op', [
  z.object({ op: z.literal('capacity'), pool: z.string(), instances: z.number().int().min(0).nullable() }),
  z.object({ op: z.literal('quota'), metric: z.string(), vcpus: z.number().int().min(0).nullable() }),
  z.object({
    op: z.literal('poolError'),
    pool: z.string(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
  }),
  z.object({ op: z.literal('fault'), fault }),
  z.object({
    op: z.literal('failOperation'),
    call: z.string(),
    error: z.object({ code: z.string(), message: z.string() }),
  }),
  z.object({ op: z.literal('loseAnswers'), action: z.string(), share: z.number().min(0).max(1), seed: z.number() }),
  /** Whether calls are refused beyond Google's request rates. */
  z.object({ op: z.literal('throttle'), on: z.boolean() }),
  z.object({ op: z.literal('clearFaults') }),
  z.object({
    op: z.literal('delays'),
    visibleMs: z.number().optional(),
    visibleUpToMs: z.number().optional(),
    pendingMs: z.number().optional(),
    shutdownMs: z.number().optional(),
    changeMs: z.number().optional(),
  }),
  z.object({ op: z.literal('advance'), ms: z.number().min(0) }),
  z.object({ op: z.literal('mute'), instances: z.number().int().min(0) }),
  /** Ids of instances are their names. Google preempts a spot instance. */
  z.object({ op: z.literal('interrupt'), id: z.string(), inMs: z.number().default(30_000) }),
  /** Its host fails: the instance is off. */
  z.object({ op: z.literal('die'), id: z.string() }),
  /** As a user does with instances.stop. */
  z.object({ op: z.literal('stop'), id: z.string() }),
  z.object({ op: z.literal('keepDisk'), id: z.string() }),
  z.object({ op: z.literal('plant'), ...plantable }),
  /** As a user creates one; `keys`: of empty objects in it. */
  z.object({ op: z.literal('bucket'), name: z.string(), keys: z.array(z.string()).default([]) }),
  z.object({ op: z.literal('plantObject'), bucket: z.string(), key: z.string() }),
  /** As a user does in the console. */
  z.object({ op: z.enum(['grant', 'replaceGrants']), on: z.string(), role: z.string(), member: z.string() }),
  z.object({ op: z.literal('weakenRole'), id: z.string() }),
  /** The permissions of the token's bearer from now on; null: all. */
  z.object({
    op: z.literal('permit'),
    token: z.string().default(controlPlaneToken),
    permissions: z.union([z.array(z.string()), z.null(), z.literal('revoked')]),
  }),
  /** The service account of the control plane's machine, with its permissions by IAM; null: a project owner's. */
  z.object({ op: z.literal('runAs'), email: z.string().nullable() }),
  z.object({ op: z.literal('disable'), services: z.array(z.string()) }),
  z.object({ op: z.literal('usedPermissions') }),
  z.object({ op: z.literal('project') }),
  z.object({ op: z.literal('instances') }),
  z.object({ op: z.literal('ledger') }),
  z.object({ op: z.literal('counts') }),
  z.object({ op: z.literal('resources') }),
  z.object({ op: z.literal('identityToken'), name: z.string(), audience: z.string() }),
]);
export type Order = z.input<typeof order>;

export type SeenInstance = Instance & { status: string | null };
export interface SeenLedger {
  entries: LedgerEntry[];
  live: string[];
  /** They exist, on or off. */
  existing: string[];
}

export type SignToken = (instance: Instance, audience: string) => Promise<string>;

export async function obey(project: EmulatedProject, sign: SignToken, raw: unknown): Promise<object> {
  const wanted = order.parse(raw);
  const nowMs = project.clock.nowMs();
  switch (wanted.op) {
    case 'capacity':
      return setOrDelete(project.capacity, wanted.pool, wanted.instances);
    case 'quota':
      return setOrDelete(project.quotas, wanted.metric, wanted.vcpus);
    case 'poolError':
      return setOrDelete(project.poolErrors, wanted.pool, wanted.error);
    case 'fault':
      project.faults.add(wanted.fault);
      return {};
    case 'loseAnswers':
      project.faults.loseAnswers(wanted.action, wanted.share, wanted.seed);
      return {};
    case 'failOperation':
      project.failing.set(wanted.call, wanted.error);
      return {};
    case 'throttle':
      project.faults.throttle(wanted.on);
      return {};
    case 'clearFaults':
      project.faults.clear();
      return {};
    case 'delays': {
      const { visibleMs, visibleUpToMs = 0, pendingMs, shutdownMs, changeMs } = wanted;
      project.delays = {
        visibleMs: visibleMs ?? project.delays.visibleMs,
        visibleUpToMs,
        pendingMs: pendingMs ?? project.delays.pendingMs,
        shutdownMs: shutdownMs ?? project.delays.shutdownMs,
        changeMs: changeMs ?? project.delays.changeMs,
      };
      return {};
    }
    case 'advance':
      project.clock.advance(wanted.ms);
      return {};
    case 'mute':
      project.muteNext = wanted.instances;
      return {};
    case 'interrupt':
      known(project, wanted.id).preemption = { noticeAtMs: nowMs, atMs: nowMs + wanted.inMs };
      return {};
    case 'die':
      project.halt(known(project, wanted.id), 'compute.instances.hostError', 'crash');
      return {};
    case 'stop':
      project.halt(known(project, wanted.id), 'stop');
      return {};
    case 'keepDisk':
      known(project, wanted.id).keepsDisk = true;
      return {};
    case 'plant':
      return plant(project, wanted);
    case 'bucket':
      project.buckets.set(wanted.name, createBucket(wanted.name, wanted.keys));
      return {};
    case 'plantObject': {
      const empty = { generation: '1', bytes: Buffer.alloc(0), metadata: {} };
      project.buckets.get(wanted.bucket)?.objects.set(wanted.key, empty);
      return {};
    }
    case 'weakenRole':
      project.iam.roles.get(wanted.id)?.includedPermissions.splice(0);
      return {};
    case 'grant':
    case 'replaceGrants': {
      const { bindings } = wanted.op === 'grant' ? project.iam.policyOf(wanted.on) : { bindings: [] };
      project.iam.setPolicy(wanted.on, { bindings: [...bindings, { role: wanted.role, members: [wanted.member] }] });
      return {};
    }
    case 'permit':
      project.access.set(wanted.token, wanted.permissions);
      return {};
    case 'runAs':
      project.access.runAs(wanted.email);
      return {};
    case 'disable':
      for (const service of wanted.services) project.disabled.add(service);
      return {};
    case 'project':
      return projectOf(project);
    case 'usedPermissions':
      return project.access.used();
    case 'instances':
      return project.instances.map((instance) => ({ ...instance, status: statusAt(instance, nowMs) }));
    case 'ledger':
      return {
        entries: project.ledger,
        live: project.instances.filter((instance) => isLive(instance, nowMs)).map(({ name }) => name),
        existing: project.instances.filter((instance) => statusAt(instance, nowMs) !== null).map(({ name }) => name),
      };
    case 'counts':
      return project.faults.counts();
    case 'resources':
      return { disks: [...project.disks.values()], firewalls: [...project.firewalls.values()] };
    case 'identityToken':
      return { token: await sign(known(project, wanted.name), wanted.audience) };
  }
}

/** The resources of setup, as the project has them. */
export interface SeenProject {
  networks: Network[];
  subnetworks: Subnetwork[];
  firewalls: Firewall[];
  buckets: string[];
  accounts: string[];
  roles: Role[];
  policies: Record<string, Policy>;
  disabled: string[];
}

const projectOf = ({ networks, subnetworks, firewalls, buckets, iam, disabled }: EmulatedProject): SeenProject => ({
  networks: [...networks.values()],
  subnetworks: [...subnetworks.values()],
  firewalls: [...firewalls.values()],
  buckets: [...buckets.keys()],
  accounts: [...iam.accounts.keys()],
  roles: [...iam.roles.values()],
  policies: Object.fromEntries(iam.policies),
  disabled: [...disabled],
});

function setOrDelete<T>(map: Map<string, T>, key: string, value: T | null): object {
  if (value === null) map.delete(key);
  else map.set(key, value);
  return {};
}

function known(project: EmulatedProject, name: string): Instance {
  const found = project.instances.findLast((instance) => instance.name === name);
  if (found === undefined) throw new Error(`The emulator has no instance ${name}`);
  return found;
}
