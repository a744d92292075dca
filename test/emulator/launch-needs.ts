// The permissions for RunInstances and CreateFleet: on every resource that a launch uses and creates. A fleet launches by
// RunInstances in the caller's name.
import { readLaunchData } from './ec2/templates.ts';
import { creation, ec2Arn, existing, need, tagsFor, type Asking } from './resource-needs.ts';
import type { Params } from './params.ts';
import type { Need } from './policy.ts';

export function launchNeeds(asking: Asking): Need[] {
  return asking.action === 'CreateFleet' ? fleetNeeds(asking) : runNeeds(asking, asking.params, [asking.params]);
}

function fleetNeeds(asking: Asking): Need[] {
  const { params } = asking;
  const configs = params.items('LaunchTemplateConfigs');
  const running: Asking = { ...asking, action: 'RunInstances' };
  return [
    ...creation(asking, 'fleet', tagsFor(params, 'fleet')),
    ...configs.flatMap((config) => {
      const specification = config.at('LaunchTemplateSpecification');
      const template = specification.text('LaunchTemplateId') ?? specification.text('LaunchTemplateName') ?? '';
      return [
        ...existing(asking, 'launch-template', template),
        ...runNeeds(running, specification, config.items('Overrides')),
      ];
    }),
  ];
}

/** `from` names the launch template, if any; `places` the subnets. */
function runNeeds(asking: Asking, from: Params, places: readonly Params[]): Need[] {
  const { params, region, account } = asking;
  const named = from.at('LaunchTemplate').isEmpty ? from : from.at('LaunchTemplate');
  const template = named.text('LaunchTemplateId') ?? named.text('LaunchTemplateName');
  const found = [...region.templates.values()].find(({ id, name }) => id === template || name === template);
  const own = readLaunchData(params);
  const data = found?.data ?? own;
  const tags = { ...data.tags, ...tagsFor(params, 'instance') };
  const volumeTags = { ...data.volumeTags, ...tagsFor(params, 'volume') };
  const face = params.items('NetworkInterface')[0];
  const subnets = [...places, ...(face === undefined ? [] : [face])].flatMap((each) => each.text('SubnetId') ?? []);
  const groups = [...new Set([...data.securityGroups, ...own.securityGroups])];
  const isSpot =
    params.at('TargetCapacitySpecification').text('DefaultTargetCapacityType') === 'spot' ||
    params.at('InstanceMarketOptions').text('MarketType') === 'spot';
  const role = data.profile === null ? null : (account.iam.profiles.get(data.profile)?.role ?? data.profile);
  return [
    ...(template === null ? [] : existing(asking, 'launch-template', template)),
    need('ec2', asking.action, ec2Arn(asking, 'image', data.imageId ?? '')),
    ...[...new Set(subnets)].flatMap((id) => existing(asking, 'subnet', id)),
    ...groups.flatMap((id) => existing(asking, 'security-group', id)),
    ...creation(asking, 'instance', tags),
    ...creation(asking, 'volume', volumeTags),
    ...creation(asking, 'network-interface', tagsFor(params, 'network-interface')),
    ...(isSpot ? creation(asking, 'spot-instances-request', { ...data.spotRequestTags, ...own.spotRequestTags }) : []),
    ...(role === null
      ? []
      : [
          need('iam', 'PassRole', `arn:aws:iam::${account.accountId}:role/${role}`, {
            'iam:PassedToService': 'ec2.amazonaws.com',
          }),
        ]),
  ];
}
