// Permissions on resources of EC2: to create one with tags, and to use or change one that exists.
import type { Need } from './policy.ts';
import type { Params } from './params.ts';
import type { Region } from './state.ts';
import type { EmulatedAccount } from './account.ts';

export interface Asking {
  account: EmulatedAccount;
  region: Region;
  service: string;
  action: string;
  params: Params;
  /** Of services with JSON bodies. */
  body: string;
}

export const need = (service: string, action: string, arn: string, context: Need['context'] = {}): Need => ({
  action: `${service}:${action}`,
  arn,
  context,
});

export type Kind =
  | 'instance'
  | 'internet-gateway'
  | 'launch-template'
  | 'route-table'
  | 'security-group'
  | 'subnet'
  | 'volume'
  | 'vpc';

/** To create a resource, and to tag it when it gets tags. */
export function creation(asking: Asking, kind: string, tags: Record<string, string>): Need[] {
  const arn = ec2Arn(asking, kind, '*');
  const context = tagContext(tags, 'Request');
  const tagging = { ...context, 'ec2:CreateAction': asking.action };
  return [
    need('ec2', asking.action, arn, context),
    ...(Object.keys(tags).length === 0 ? [] : [need('ec2', 'CreateTags', arn, tagging)]),
  ];
}

/** To use or change an existing resource; none when it does not exist. */
export function existing(asking: Asking, kind: Kind, id: string): Need[] {
  const tags = tagsOf(asking, kind, id);
  return tags === null ? [] : [need('ec2', asking.action, ec2Arn(asking, kind, id), tagContext(tags))];
}

export const ec2Arn = ({ region, account }: Asking, kind: string, id: string): string =>
  `arn:aws:ec2:${region.name}:${kind === 'image' ? '' : account.accountId}:${kind}/${id}`;

export function tagsFor(params: Params, kind: string): Record<string, string> {
  const given = params.items('TagSpecification').filter((each) => each.text('ResourceType') === kind);
  return Object.fromEntries(
    given.flatMap((each) => each.items('Tag').map((tag) => [tag.text('Key') ?? '', tag.text('Value') ?? ''])),
  );
}

export const tagContext = (
  tags: Record<string, string> | null,
  of: 'Resource' | 'Request' = 'Resource',
): Need['context'] =>
  Object.fromEntries(Object.entries(tags ?? {}).map(([key, value]) => [`aws:${of}Tag/${key}`, value]));

/** Null for a missing resource. */
export function tagsOf({ region }: Asking, kind: Kind, id: string): Record<string, string> | null {
  const among = <T extends { tags: Record<string, string> }>(list: Iterable<T>, is: (one: T) => boolean) =>
    [...list].find(is)?.tags ?? null;
  switch (kind) {
    case 'instance':
      return region.instances.get(id)?.tags ?? null;
    case 'internet-gateway':
      return region.gateways.get(id)?.tags ?? null;
    case 'launch-template':
      return among(region.templates.values(), (one) => one.id === id || one.name === id);
    case 'route-table':
      return among(region.routeTables.values(), (one) => one.id === id || one.subnets.has(id));
    case 'security-group':
      return region.groups.get(id)?.tags ?? (region.securityGroups.includes(id) ? {} : null);
    case 'subnet':
      return among(region.subnets, (one) => one.id === id);
    case 'volume':
      return region.volumes.get(id)?.tags ?? null;
    case 'vpc':
      return region.vpcs.get(id)?.tags ?? null;
  }
}
