// Launch templates, and the launch data that they and RunInstances share.
import { AwsError } from '../aws-error.ts';
import { hasProfile } from '../iam.ts';
import { imageOf } from '../images.ts';
import type { Params } from '../params.ts';
import { hexId } from '../state.ts';
import type { Market, Region, Template, TemplateData } from '../state.ts';
import { instanceTypes } from '../types.ts';
import type { Xml } from '../xml.ts';
import { matches, page, readTags, tagSet } from './call.ts';
import { checkLaunchValues } from './launch-checks.ts';
import type { Call, Operation } from './call.ts';

const userDataLimit = 16_384;

export const createLaunchTemplate: Operation = (call) => {
  const name = call.params.text('LaunchTemplateName') ?? '';
  if (!/^[a-zA-Z0-9().\-/_]{3,128}$/.test(name)) {
    throw new AwsError('InvalidLaunchTemplateName.MalformedException', `Invalid launch template name: ${name}`);
  }
  if ([...call.region.templates.values()].some((template) => template.name === name)) {
    throw new AwsError('InvalidLaunchTemplateName.AlreadyExistsException', 'Launch template name already in use.');
  }
  const template: Template = {
    id: hexId('lt'),
    name,
    data: readLaunchData(call.params.at('LaunchTemplateData')),
    tags: readTags(call, 'launch-template'),
    createdAtMs: call.nowMs,
  };
  call.region.templates.set(template.id, template);
  return { launchTemplate: shown(template) };
};

export const describeLaunchTemplates: Operation = (call) => {
  const ids = call.params.texts('LaunchTemplateId');
  const names = call.params.texts('LaunchTemplateName');
  for (const id of ids) templateOf(call.region, id, null);
  for (const name of names) templateOf(call.region, null, name);
  const found = [...call.region.templates.values()].filter(
    (template) =>
      (ids.length === 0 || ids.includes(template.id)) &&
      (names.length === 0 || names.includes(template.name)) &&
      matches(call, (filter) => {
        if (filter.startsWith('tag:')) return [template.tags[filter.slice(4)]].filter((value) => value !== undefined);
        if (filter === 'tag-key') return Object.keys(template.tags);
        return filter === 'launch-template-name' ? [template.name] : null;
      }),
  );
  const { items, nextToken } = page(call, found, 200);
  return { launchTemplates: items.map(shown), nextToken };
};

export const deleteLaunchTemplate: Operation = (call) => {
  const template = templateOf(
    call.region,
    call.params.text('LaunchTemplateId'),
    call.params.text('LaunchTemplateName'),
  );
  call.region.templates.delete(template.id);
  return { launchTemplate: shown(template) };
};

export function templateOf(region: Region, id: string | null, name: string | null): Template {
  const found = [...region.templates.values()].find((each) => each.id === id || each.name === name);
  if (found !== undefined) return found;
  throw id === null
    ? new AwsError(
        'InvalidLaunchTemplateName.NotFoundException',
        `At least one of the launch templates specified in the request does not exist: ${name}`,
      )
    : new AwsError(
        'InvalidLaunchTemplateId.NotFound',
        `The specified launch template, with template ID ${id}, does not exist.`,
      );
}

export function readLaunchData(params: Params): TemplateData {
  checkLaunchValues(params);
  const userData = params.text('UserData') ?? '';
  const bytes = Buffer.from(userData, 'base64').length;
  if (bytes > userDataLimit) {
    throw new AwsError('InvalidUserData.Malformed', `User data is limited to ${userDataLimit} bytes`);
  }
  const face = params.items('NetworkInterface')[0];
  const disk = params.items('BlockDeviceMapping')[0]?.at('Ebs');
  const profile = params.at('IamInstanceProfile');
  const httpTokens = params.at('MetadataOptions').text('HttpTokens');
  return {
    imageId: params.text('ImageId'),
    instanceType: params.text('InstanceType'),
    userData,
    profile: profile.text('Name') ?? profile.text('Arn')?.split('/').at(-1) ?? null,
    securityGroups: face === undefined ? params.texts('SecurityGroupId') : face.texts('SecurityGroupId'),
    shutdownBehavior: params.text('InstanceInitiatedShutdownBehavior') === 'terminate' ? 'terminate' : 'stop',
    httpTokens: httpTokens === 'required' ? 'required' : 'optional',
    hasInterface: face !== undefined,
    publicIp: face?.text('AssociatePublicIpAddress') === 'true',
    diskGib: disk?.text('VolumeSize') === null || disk === undefined ? null : Number(disk.text('VolumeSize')),
    deleteOnTermination: disk?.text('DeleteOnTermination') !== 'false',
    tags: readTags({ params }, 'instance'),
    volumeTags: readTags({ params }, 'volume'),
    spotRequestTags: readTags({ params }, 'spot-instances-request'),
  };
}

/** An on-demand launch makes no spot request to tag: a fleet reports the error for each pool, a single launch as a whole. */
export function spotTagsProblem(
  market: Market,
  ...from: Pick<TemplateData, 'spotRequestTags'>[]
): { code: string; message: string } | null {
  if (market === 'spot' || from.every(({ spotRequestTags }) => Object.keys(spotRequestTags).length === 0)) return null;
  return {
    code: 'InvalidParameterValue',
    message:
      'You cannot specify tags for Spot instances requests if there are no Spot instances requests being created by the request.',
  };
}

/** The checks of both kinds of launch, independent of the pools' capacity. */
export function checkLaunchData(call: Call, data: TemplateData): void {
  const { region } = call;
  const unknown = data.securityGroups.find(
    (group) => !region.securityGroups.includes(group) && !region.groups.has(group),
  );
  if (unknown !== undefined) {
    throw new AwsError('InvalidGroup.NotFound', `The security group '${unknown}' does not exist`);
  }
  if (data.profile !== null && !region.profiles.includes(data.profile) && !hasProfile(call.account, data.profile)) {
    throw new AwsError(
      'InvalidParameterValue',
      `Value (${data.profile}) for parameter iamInstanceProfile.name is invalid. Invalid IAM Instance Profile name`,
    );
  }
  if (data.imageId === null || !/^ami-[0-9a-f]{17}$/.test(data.imageId)) {
    throw new AwsError('InvalidAMIID.Malformed', `Invalid id: "${data.imageId ?? ''}"`);
  }
  const image = imageOf(region.name, data.imageId);
  if (image === null) {
    throw new AwsError('InvalidAMIID.NotFound', `The image id '[${data.imageId}]' does not exist`);
  }
  if (data.diskGib !== null && data.diskGib < image.diskGib) {
    const message = `Volume of size ${data.diskGib}GB is smaller than snapshot of '${image.id}', expect size >= ${image.diskGib}GB`;
    throw new AwsError('InvalidBlockDeviceMapping', message);
  }
}

/** An image runs only on types of its architecture: a fleet reports the error for each pool, a single launch as a whole. */
export function architectureProblem(
  region: Region,
  type: string,
  { imageId }: TemplateData,
): { code: string; message: string } | null {
  const image = imageOf(region.name, imageId ?? '');
  const arch = instanceTypes.get(type)?.arch;
  if (image === null || arch === undefined || arch === image.architecture) return null;
  const message = `The architecture '${arch}' of the specified instance type does not match the architecture '${image.architecture}' of the specified AMI.`;
  return { code: 'InvalidParameterValue', message };
}

/** A template has one version here. */
export function checkVersion(template: Template, version: string | null): void {
  if (version === null || ['1', '$Latest', '$Default'].includes(version)) return;
  const message = `Could not find launch template version ${version} of ${template.id}.`;
  throw new AwsError('InvalidLaunchTemplateId.VersionNotFound', message);
}

const shown = ({ id, name, tags, createdAtMs }: Template): Xml => ({
  launchTemplateId: id,
  launchTemplateName: name,
  createTime: new Date(createdAtMs).toISOString(),
  defaultVersionNumber: 1,
  latestVersionNumber: 1,
  tagSet: tagSet(tags),
});
