// Resources of a cloud besides instances, for tests to plant and count: launch templates and volumes.
import { hexId, volumeStateAt } from './state.ts';
import type { Instance, Region, TemplateData } from './state.ts';
import type { EmulatedAccount } from './account.ts';

export interface SeenResource {
  id: string;
  kind: 'volume' | 'launch template' | 'security group';
  /** For a security group. */
  rules?: string[];
  state: 'in-use' | 'available';
  tags: Record<string, string>;
}

/** As if its mapping had never set DeleteOnTermination. */
export function keepVolume(account: EmulatedAccount, instance: Instance): object {
  for (const { volumes } of account.regions()) {
    const volume = volumes.get(instance.volumeId);
    if (volume !== undefined) volume.deleteOnTermination = false;
  }
  return {};
}

/** With any tags and any age. */
export function plant(
  account: EmulatedAccount,
  wanted: { region: string; kind: SeenResource['kind'] | 'instance'; tags: Record<string, string>; ageMs: number },
): { id: string } {
  const { kind, tags } = wanted;
  const region = account.region(wanted.region);
  const createdAtMs = account.clock.nowMs() - wanted.ageMs;
  if (kind === 'instance') return { id: plantInstance(account, region, tags, createdAtMs) };
  if (kind === 'launch template') {
    const id = hexId('lt');
    region.templates.set(id, { id, name: `planted-${id}`, data: nothing, tags, createdAtMs });
    return { id };
  }
  if (kind === 'security group') {
    const id = hexId('sg');
    region.groups.set(id, {
      id,
      name: `planted-${id}`,
      tags,
      vpc: `vpc-${region.name}`,
      description: 'planted',
      rules: [],
      shownFromMs: 0,
    });
    return { id };
  }
  const id = hexId('vol');
  const loose = { instance: null, deleteOnTermination: false, deletedAtMs: null };
  region.volumes.set(id, { id, zone: region.zones[0] ?? '', sizeGib: 8, tags, createdAtMs, ...loose });
  return { id };
}

function plantInstance(
  account: EmulatedAccount,
  region: Region,
  tags: Record<string, string>,
  createdAtMs: number,
): string {
  const zone = region.zones[0] ?? '';
  const instance = account.launch(region, {
    ...{ type: 'm6i.large', zone, market: 'on-demand', subnet: region.subnets[0]?.id ?? '', data: nothing },
    ...{ tags, volumeTags: tags, reservation: hexId('r'), clientToken: '', fleet: null },
  });
  instance.launchedAtMs = createdAtMs;
  const volume = region.volumes.get(instance.volumeId);
  if (volume !== undefined) volume.createdAtMs = createdAtMs;
  return instance.id;
}

export function seenResources(account: EmulatedAccount): SeenResource[] {
  const nowMs = account.clock.nowMs();
  return account.regions().flatMap(({ templates, volumes, groups }) => [
    ...[...groups.values()].map(({ id, tags, rules }) => {
      return { id, kind: 'security group', state: 'available', tags, rules } as const;
    }),
    ...[...templates.values()].map(({ id, tags }) => {
      return { id, kind: 'launch template', state: 'available', tags } as const;
    }),
    ...[...volumes.values()].flatMap((volume): SeenResource[] => {
      const state = volumeStateAt(volume, nowMs);
      return state === null ? [] : [{ id: volume.id, kind: 'volume', state, tags: volume.tags }];
    }),
  ]);
}

const nothing: TemplateData = {
  ...{ imageId: null, instanceType: null, userData: '', profile: null, securityGroups: [], diskGib: null },
  ...{
    shutdownBehavior: 'terminate',
    httpTokens: 'required',
    publicIp: false,
    hasInterface: false,
    deleteOnTermination: true,
  },
  ...{ tags: {}, volumeTags: {}, spotRequestTags: {} },
};
