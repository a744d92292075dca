// The control API of the cloud for tests: POST /_control with one order returns that order's result.
import { z } from 'zod';

import { keepVolume, plant, seenResources } from './resources.ts';
import type { Signer } from './identity.ts';
import { parsePolicy } from './policy.ts';
import type { Machines } from './machines.ts';
import { isLive, stateAt } from './state.ts';
import type { Instance } from './state.ts';
import { createAccount } from './account.ts';
import type { EmulatedAccount } from './account.ts';

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
  /** Of a type and zone, from now on. */
  z.object({ op: z.literal('spotPrice'), region, pool: z.string(), pricePerHour: z.number() }),
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
  /** An account with a role that the main account may assume with this external id; null revokes it. */
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

export async function obey(
  account: EmulatedAccount,
  signer: Signer,
  machines: Machines,
  raw: unknown,
): Promise<unknown> {
  const wanted = order.parse(raw);
  switch (wanted.op) {
    case 'capacity':
      return setOrDelete(account.region(wanted.region).capacity, wanted.pool, wanted.instances);
    case 'quota':
      return setOrDelete(account.region(wanted.region).quotas, wanted.pool, wanted.vcpus);
    case 'poolError': {
      const { poolErrors } = account.region(wanted.region);
      if (wanted.error === null) poolErrors.delete(wanted.pool);
      else poolErrors.set(wanted.pool, wanted.error);
      return {};
    }
    case 'addresses':
      for (const subnet of account.region(wanted.region).subnets)
        if (subnet.zone === wanted.zone) subnet.free = wanted.free;
      return {};
    case 'spotPrice': {
      const { spotPrices } = account.region(wanted.region);
      spotPrices.push({ pool: wanted.pool, atMs: account.clock.nowMs(), pricePerHour: wanted.pricePerHour });
      return {};
    }
    case 'zone': {
      const { zonesDown } = account.region(wanted.region);
      if (wanted.down) zonesDown.add(wanted.zone);
      else zonesDown.delete(wanted.zone);
      return {};
    }
    case 'fault': {
      const { code, message, status, ...rest } = wanted.fault;
      account.faults.add({
        ...rest,
        ...(code === undefined ? {} : { code }),
        ...(message === undefined ? {} : { message }),
        ...(status === undefined ? {} : { status }),
      });
      return {};
    }
    case 'loseAnswers':
      account.faults.loseAnswers(wanted.action, wanted.share, wanted.seed);
      return {};
    case 'throttle':
      account.faults.throttle(wanted.on);
      return {};
    case 'repeatFleetsBare':
      account.repeatsFleetsBare = wanted.on;
      return {};
    case 'clearFaults':
      account.faults.clear();
      return {};
    case 'delays':
      account.delays.visibleMs = wanted.visibleMs ?? account.delays.visibleMs;
      account.delays.visibleUpToMs = wanted.visibleUpToMs ?? 0;
      account.delays.pendingMs = wanted.pendingMs ?? account.delays.pendingMs;
      account.delays.shutdownMs = wanted.shutdownMs ?? account.delays.shutdownMs;
      return {};
    case 'advance':
      account.clock.advance(wanted.ms);
      return {};
    case 'mute':
      account.muteNext = wanted.instances;
      return {};
    case 'interrupt': {
      const nowMs = account.clock.nowMs();
      known(account, wanted.id).interruption = { noticeAtMs: nowMs, atMs: nowMs + wanted.inMs };
      return {};
    }
    case 'rebalance':
      known(account, wanted.id).rebalanceAtMs = account.clock.nowMs();
      return {};
    case 'die': {
      const instance = known(account, wanted.id);
      account.end(instance, 'Server.InternalError', 'its host died');
      await machines.kill(instance.id);
      return {};
    }
    case 'stop': {
      const instance = known(account, wanted.id);
      account.stop(instance);
      await machines.kill(instance.id);
      return {};
    }
    case 'keepVolume':
      return keepVolume(account, known(account, wanted.id));
    case 'plant':
      return plant(account, wanted);
    case 'resources':
      return seenResources(account);
    case 'instances':
      return everyInstance(wanted.role === undefined ? account : accountOf(account, wanted.role)).map((instance) =>
        seen(instance, account.clock.nowMs()),
      );
    case 'ledger':
      return {
        entries: account.ledger.entries(),
        live: everyInstance(account)
          .filter((instance) => isLive(instance, account.clock.nowMs()))
          .map(({ id }) => id),
      };
    case 'counts':
      return account.faults.counts();
    case 'trust': {
      const { roleArn, externalId } = wanted;
      const other = account.trusts.get(roleArn)?.account ?? createAccount(null, roleArn.split(':')[4] ?? '');
      // An external id that no request can contain.
      account.trusts.set(roleArn, { externalId: externalId ?? '\0', account: other });
      return {};
    }
    case 'permit':
      if (wanted.policies === null) account.permissions.delete(wanted.accessKeyId);
      else account.permissions.set(wanted.accessKeyId, wanted.policies.map(parsePolicy));
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

function accountOf(account: EmulatedAccount, role: string): EmulatedAccount {
  const found = account.trusts.get(role)?.account;
  if (found === undefined) throw new Error(`The emulator has no role ${role}`);
  return found;
}

function known(account: EmulatedAccount, id: string): Instance {
  const found = account.find(id);
  if (found === null) throw new Error(`The emulator has no instance ${id}`);
  return found;
}

const everyInstance = (account: EmulatedAccount): Instance[] =>
  account.regions().flatMap(({ instances }) => [...instances.values()]);

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
