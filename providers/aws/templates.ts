// Launch templates: one for each launch and role, with a name derived from them, so a retry finds the first attempt's template.
// They carry their cluster's tags and are deleted with it, or at once when nothing was launched.
import { createHash } from 'node:crypto';

import {
  CreateLaunchTemplateCommand,
  DeleteLaunchTemplateCommand,
  DescribeLaunchTemplatesCommand,
  paginateDescribeLaunchTemplates,
} from '@aws-sdk/client-ec2';
import type { RequestLaunchTemplateData, Tag } from '@aws-sdk/client-ec2';
import { GetParameterCommand } from '@aws-sdk/client-ssm';

import type { InstanceRole } from '../../domain/cluster/state.ts';
import { RopewalkError } from '../../domain/errors.ts';
import type { Architecture } from '../../domain/offers/offer.ts';
import type { Owner } from '../../domain/owner.ts';
import type { LaunchRequest, Placement } from '../provider.ts';
import type { AwsClients } from './clients.ts';
import { hasGpu } from './families.ts';
import { readPages } from './pages.ts';
import { codeOf } from './sdk-errors.ts';
import { hasPublicAddress, profileOf, tagKeys } from './settings.ts';
import type { AwsSettings } from './settings.ts';
import { tagFilters, tagsOfLaunch } from './tags.ts';
import { renderUserData } from './user-data.ts';

/** Derived from the token, because a launch repeated after a crash must find this very template. */
export const templateName = (token: string, role: InstanceRole): string =>
  `ropewalk-${createHash('sha256')
    .update(JSON.stringify([token, role]))
    .digest('hex')
    .slice(0, 32)}`;

export interface LaunchTemplate {
  name: string;
  /** The pools that the first attempt excluded. */
  exclusions: string;
  /** Created by this call: no previous attempt of this launch has requested instances. */
  isNew: boolean;
}

export interface TemplateInput {
  request: LaunchRequest;
  role: InstanceRole;
  placement: Placement;
  /** The pools that a first attempt excludes, in the format of unavailable.ts. */
  exclusions: string;
}

export async function ensureTemplate(
  clients: AwsClients,
  settings: AwsSettings,
  { request, role, placement, exclusions }: TemplateInput,
): Promise<LaunchTemplate> {
  const name = templateName(request.token, role);
  const tags = tagsOfLaunch(request);
  const data: RequestLaunchTemplateData = {
    ...(await machineOf(clients, settings, request, placement)),
    NetworkInterfaces: [networkInterface(settings, role)],
    // An on-demand launch creates no spot request, and EC2 refuses tags for resources that the call does not create.
    ...(placement.market === 'spot'
      ? { TagSpecifications: [{ ResourceType: 'spot-instances-request' as const, Tags: tags }] }
      : {}),
  };
  const command = new CreateLaunchTemplateCommand({
    LaunchTemplateName: name,
    LaunchTemplateData: data,
    TagSpecifications: [
      { ResourceType: 'launch-template', Tags: [...tags, { Key: tagKeys.exclusions, Value: exclusions }] },
    ],
  });
  try {
    await clients.limiter.run('change', () => clients.ec2.send(command));
    return { name, exclusions, isNew: true };
  } catch (error) {
    if (codeOf(error) !== 'InvalidLaunchTemplateName.AlreadyExistsException') throw error;
    return { name, exclusions: await exclusionsOf(clients, name), isNew: false };
  }
}

/** The image, boot data and disk of an instance, independent of the call that launches it. */
export async function machineOf(
  clients: Pick<AwsClients, 'ec2' | 'ssm'>,
  settings: AwsSettings,
  { apiUrl, launchToken, owner }: Pick<LaunchRequest, 'apiUrl' | 'launchToken' | 'owner'>,
  placement: Placement,
) {
  const userData = renderUserData(
    { apiUrl, launchToken, owner: ownerOf(owner) },
    settings.agent,
    placement.architecture,
  );
  const profile = profileOf(settings, owner.workspace);
  return {
    ImageId: await imageOf(clients, settings, placement),
    UserData: Buffer.from(userData).toString('base64'),
    ...(profile === null ? {} : { IamInstanceProfile: { Name: profile } }),
    InstanceInitiatedShutdownBehavior: 'terminate' as const,
    MetadataOptions: { HttpTokens: 'required', HttpPutResponseHopLimit: 1, HttpEndpoint: 'enabled' } as const,
    BlockDeviceMappings: [{ DeviceName: '/dev/sda1', Ebs: diskOf(placement) }],
  };
}

/**
 * For a launch without instances: a cluster that waits for capacity creates a template with every attempt, and an account is
 * limited to 5,000. A retry creates it again under the same name, and its token returns the same answer. A template that cannot
 * be deleted now is deleted with its cluster.
 */
export async function discardTemplate(clients: AwsClients, LaunchTemplateName: string): Promise<void> {
  const command = new DeleteLaunchTemplateCommand({ LaunchTemplateName });
  await clients.limiter.run('change', () => clients.ec2.send(command)).catch(() => undefined);
}

/** The exclusions of the first attempt: this attempt requests the same pools. */
async function exclusionsOf(clients: AwsClients, name: string): Promise<string> {
  const command = new DescribeLaunchTemplatesCommand({ LaunchTemplateNames: [name] });
  const { LaunchTemplates = [] } = await clients.limiter.run('read', () => clients.ec2.send(command));
  return LaunchTemplates[0]?.Tags?.find(({ Key }) => Key === tagKeys.exclusions)?.Value ?? '';
}

/** gp3 has 3,000 IOPS and at most 0.25 MB/s per IOPS, so a higher throughput needs more IOPS (AWS, EBS user guide). */
const diskOf = ({ diskGib, diskThroughput }: Placement) => ({
  VolumeSize: diskGib,
  VolumeType: 'gp3' as const,
  DeleteOnTermination: true,
  Encrypted: true,
  ...(diskThroughput === undefined
    ? {}
    : { Throughput: diskThroughput, Iops: Math.max(3_000, Math.ceil(diskThroughput * 4)) }),
});

/** The single interface of an instance, in a launch template for any subnet. */
export const networkInterface = (
  settings: Pick<AwsSettings, 'assignPublicIps' | 'securityGroups' | 'workerSubnets'>,
  role: InstanceRole,
) => ({
  DeviceIndex: 0,
  DeleteOnTermination: true,
  AssociatePublicIpAddress: hasPublicAddress(settings, role),
  Groups: [settings.securityGroups.cluster, ...(role === 'head' ? settings.securityGroups.scheduler : [])],
});

/** Deletes the templates with these tags; ignores missing templates. */
export async function deleteTemplates(clients: AwsClients, tags: Tag[]): Promise<void> {
  const Filters = tagFilters(tags);
  const pages = paginateDescribeLaunchTemplates({ client: clients.ec2, pageSize: 200 }, { Filters });
  for await (const { LaunchTemplates = [] } of readPages(clients, pages)) {
    for (const { LaunchTemplateId = '' } of LaunchTemplates) await deleteTemplate(clients, LaunchTemplateId);
  }
}

export async function deleteTemplate(clients: AwsClients, LaunchTemplateId: string): Promise<void> {
  try {
    await clients.limiter.run('change', () => clients.ec2.send(new DeleteLaunchTemplateCommand({ LaunchTemplateId })));
  } catch (error) {
    if (codeOf(error) !== 'InvalidLaunchTemplateId.NotFound') throw error;
  }
}

const ownerOf = ({ deploymentId, workspace, cluster }: Owner): Owner => ({ deploymentId, workspace, cluster });

const images = { x86_64: 'amd64', arm64: 'arm64' } as const;
const imageTtlMs = 24 * 3_600_000;
const known = new Map<string, { id: string; atMs: number }>();

/** Either all types of a launch have GPUs or none has. */
async function imageOf(
  clients: Pick<AwsClients, 'ec2' | 'ssm'>,
  { gpuImage }: AwsSettings,
  { types, architecture }: Placement,
): Promise<string> {
  if (gpuImage === null || architecture === 'arm64' || !types.some(hasGpu))
    return readImage(clients, ubuntuOf(architecture));
  return gpuImage.startsWith('ami-') ? gpuImage : readImage(clients, gpuImage);
}

/** Canonical's public parameter for the newest Ubuntu 24.04 image in every region. */
const ubuntuOf = (architecture: Architecture): string =>
  `/aws/service/canonical/ubuntu/server/24.04/stable/current/${images[architecture]}/hvm/ebs-gp3/ami-id`;

/** Cached for a day. */
async function readImage(clients: Pick<AwsClients, 'ec2' | 'ssm'>, Name: string): Promise<string> {
  const key = `${await clients.ec2.config.region()} ${Name}`;
  const cached = known.get(key);
  if (cached !== undefined && performance.now() - cached.atMs < imageTtlMs) return cached.id;
  const { Parameter } = await clients.ssm.send(new GetParameterCommand({ Name }));
  const id = Parameter?.Value ?? '';
  if (id === '') throw noImage(Name);
  known.set(key, { id, atMs: performance.now() });
  return id;
}

/** Not cached, and no EC2 call was made: the same launch is repeated, a bounded number of times. */
const noImage = (name: string): RopewalkError =>
  new RopewalkError({
    code: 'INTERNAL',
    message: `AWS Systems Manager named no machine image: its public parameter ${name} has no value.`,
    hint: 'Check that the parameter has a value in this region.',
  });
