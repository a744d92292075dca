// What tests may do to the cloud, and see of it: POST /_control with one order, answered with what it asks for.
import { z } from 'zod';

import { keepVolume, plant, seenResources } from './resources.ts';
import type { Signer } from './identity.ts';
import { parsePolicy } from './policy.ts';
import type { Machines } from './machines.ts';
import { isLive, stateAt } from './state.ts';
import type { Instance } from './state.ts';
import { createWorld } from './world.ts';
import type { World } from './world.ts';

const region = z.string().default('us-east-1');
const fault = z.object({
  action: z.string(),
  nth: z.number().int().min(1).default(1),
  times: z.number().int().min(1).default(1),
  kind: z.enum(['error', 'lost', 'cut']),
  code: z.string().optional(),
  message: z.string().optional(),
  status: z.number().int().optional(),
});

export const order = z.discriminatedUnion('op', [
  z.object({ op: z.literal('capacity'), region, pool: z.string(), instances: z.number().int().min(0).nullable() }),
  z.object({ op: z.literal('quota'), region, pool: z.string(), vcpus: z.number().int().min(0).nullable() }),
  z.object({
    op: z.literal('poolError'),
    region,
    pool: z.string(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
  }),
  z.object({ op: z.literal('addresses'), region, zone: z.string(), free: z.number().int().min(0) }),
  z.object({ op: z.literal('zone'), region, zone: z.string(), down: z.boolean() }),
  z.object({ op: z.literal('fault'), fault }),
  z.object({ op: z.literal('loseAnswers'), action: z.string(), share: z.number().min(0).max(1), seed: z.number() }),
  z.object({ op: z.literal('throttle'), on: z.boolean() }),
  z.object({ op: z.literal('clearFaults') }),
  z.object({
    op: z.literal('delays'),
    visibleMs: z.number().optional(),
    visibleUpToMs: z.number().optional(),
    pendingMs: z.number().optional(),
    shutdownMs: z.number().optional(),
  }),
  z.object({ op: z.literal('advance'), ms: z.number().min(0) }),
  z.object({ op: z.literal('mute'), instances: z.number().int().min(0) }),
  z.object({ op: z.literal('repeatFleetsBare'), on: z.boolean() }),
  z.object({ op: z.literal('interrupt'), id: z.string(), inMs: z.number().default(120_000) }),
  z.object({ op: z.literal('rebalance'), id: z.string() }),
  z.object({ op: z.literal('die'), id: z.string() }),
  z.object({ op: z.literal('stop'), id: z.string() }),
  z.object({ op: z.literal('keepVolume'), id: z.string() }),
  z.object({
    op: z.literal('plant'),
    region,
    kind: z.enum(['instance', 'volume', 'launch template']),
    tags: z.record(z.string(), z.string()),
    ageMs: z.number(),
  }),
  z.object({ op: z.literal('resources') }),
  z.object({ op: z.literal('instances'), role: z.string().optional() }),
  z.object({ op: z.literal('ledger') }),
  z.object({ op: z.literal('counts') }),
  z.object({ op: z.literal('identityKey') }),
  /** An account with a role that the main one may take with this external id; null takes it back. */
  z.object({ op: z.literal('trust'), roleArn: z.string(), externalId: z.string().nullable() }),
  z.object({ op: z.literal('permit'), accessKeyId: z.string(), policies: z.array(z.string()).nullable() }),
]);
export type Order = z.input<typeof order>;

export interface SeenInstance {
  id: string;
  type: string;
  zone: string;
  market: string;
  state: string;
  tags: Record<string, string>;
  userData: string;
  clientToken: string;
  securityGroups: string[];
  spotRequestTags: Record<string, string>;
}

export async function obey(world: World, signer: Signer, machines: Machines, raw: unknown): Promise<unknown> {
  const wanted = order.parse(raw);
  switch (wanted.op) {
    case 'capacity':
      return setOrDelete(world.region(wanted.region).capacity, wanted.pool, wanted.instances);
    case 'quota':
      return setOrDelete(world.region(wanted.region).quotas, wanted.pool, wanted.vcpus);
    case 'poolError': {
      const { poolErrors } = world.region(wanted.region);
      if (wanted.error === null) poolErrors.delete(wanted.pool);
      else poolErrors.set(wanted.pool, wanted.error);
      return {};
    }
    case 'addresses':
      for (const subnet of world.region(wanted.region).subnets)
        if (subnet.zone === wanted.zone) subnet.free = wanted.free;
      return {};
    case 'zone': {
      const { zonesDown } = world.region(wanted.region);
      if (wanted.down) zonesDown.add(wanted.zone);
      else zonesDown.delete(wanted.zone);
      return {};
    }
    case 'fault': {
      const { code, message, status, ...rest } = wanted.fault;
      world.faults.add({
        ...rest,
        ...(code === undefined ? {} : { code }),
        ...(message === undefined ? {} : { message }),
        ...(status === undefined ? {} : { status }),
      });
      return {};
    }
    case 'loseAnswers':
      world.faults.loseAnswers(wanted.action, wanted.share, wanted.seed);
      return {};
    case 'throttle':
      world.faults.throttle(wanted.on);
      return {};
    case 'repeatFleetsBare':
      world.repeatsFleetsBare = wanted.on;
      return {};
    case 'clearFaults':
      world.faults.clear();
      return {};
    case 'delays':
      world.delays.visibleMs = wanted.visibleMs ?? world.delays.visibleMs;
      world.delays.visibleUpToMs = wanted.visibleUpToMs ?? 0;
      world.delays.pendingMs = wanted.pendingMs ?? world.delays.pendingMs;
      world.delays.shutdownMs = wanted.shutdownMs ?? world.delays.shutdownMs;
      return {};
    case 'advance':
      world.clock.advance(wanted.ms);
      return {};
    case 'mute':
      world.muteNext = wanted.instances;
      return {};
    case 'interrupt': {
      const nowMs = world.clock.nowMs();
      known(world, wanted.id).interruption = { noticeAtMs: nowMs, atMs: nowMs + wanted.inMs };
      return {};
    }
    case 'rebalance':
      known(world, wanted.id).rebalanceAtMs = world.clock.nowMs();
      return {};
    case 'die': {
      const instance = known(world, wanted.id);
      world.end(instance, 'Server.InternalError', 'its host died');
      await machines.kill(instance.id);
      return {};
    }
    case 'stop': {
      const instance = known(world, wanted.id);
      world.stop(instance);
      await machines.kill(instance.id);
      return {};
    }
    case 'keepVolume':
      return keepVolume(world, known(world, wanted.id));
    case 'plant':
      return plant(world, wanted);
    case 'resources':
      return seenResources(world);
    case 'instances':
      return everyInstance(wanted.role === undefined ? world : accountOf(world, wanted.role)).map((instance) =>
        seen(instance, world.clock.nowMs()),
      );
    case 'ledger':
      return {
        entries: world.ledger.entries(),
        live: everyInstance(world)
          .filter((instance) => isLive(instance, world.clock.nowMs()))
          .map(({ id }) => id),
      };
    case 'counts':
      return world.faults.counts();
    case 'trust': {
      const { roleArn, externalId } = wanted;
      const account = world.trusts.get(roleArn)?.world ?? createWorld(null, roleArn.split(':')[4] ?? '');
      // What no request can name.
      world.trusts.set(roleArn, { externalId: externalId ?? '\0', world: account });
      return {};
    }
    case 'permit':
      if (wanted.policies === null) world.permissions.delete(wanted.accessKeyId);
      else world.permissions.set(wanted.accessKeyId, wanted.policies.map(parsePolicy));
      return {};
    case 'identityKey':
      return { publicKey: signer.publicKey };
  }
}

function setOrDelete(map: Map<string, number>, key: string, value: number | null): object {
  if (value === null) map.delete(key);
  else map.set(key, value);
  return {};
}

function accountOf(world: World, role: string): World {
  const found = world.trusts.get(role)?.world;
  if (found === undefined) throw new Error(`The emulator has no role ${role}`);
  return found;
}

function known(world: World, id: string): Instance {
  const found = world.find(id);
  if (found === null) throw new Error(`The emulator has no instance ${id}`);
  return found;
}

const everyInstance = (world: World): Instance[] => world.regions().flatMap(({ instances }) => [...instances.values()]);

const seen = ({ id, type, zone, market, tags, data, clientToken, ...rest }: Instance, nowMs: number): SeenInstance => ({
  id,
  type,
  zone,
  market,
  state: stateAt({ id, type, zone, market, tags, data, clientToken, ...rest }, nowMs),
  tags,
  userData: Buffer.from(data.userData, 'base64').toString(),
  securityGroups: data.securityGroups,
  spotRequestTags: data.spotRequestTags,
  clientToken,
});
