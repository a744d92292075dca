// EC2's refusals of a launch's data, in a template or in RunInstances: values that EC2 does not have, disks that EBS does not
// have (EBS user guide, gp3), and parameters that exclude each other.
import { AwsError } from '../aws-error.ts';
import type { Params } from '../params.ts';

const values: Readonly<Record<string, string[]>> = {
  InstanceInitiatedShutdownBehavior: ['stop', 'terminate'],
  'MetadataOptions.HttpTokens': ['optional', 'required'],
  'MetadataOptions.HttpEndpoint': ['enabled', 'disabled'],
  'MetadataOptions.InstanceMetadataTags': ['enabled', 'disabled'],
  'InstanceMarketOptions.MarketType': ['spot', 'capacity-block', 'interruptible-capacity-reservation'],
};
const volumeTypes = ['gp2', 'gp3', 'io1', 'io2', 'st1', 'sc1', 'standard'];

export function checkLaunchValues(params: Params): void {
  for (const [path, allowed] of Object.entries(values)) {
    const [first = '', second] = path.split('.');
    const value = second === undefined ? params.text(first) : params.at(first).text(second);
    if (value !== null && !allowed.includes(value)) throw invalid(`Invalid value '${value}' for ${path}.`);
  }
  const hops = params.at('MetadataOptions').text('HttpPutResponseHopLimit');
  if (hops !== null && !within(hops, 1, 64)) throw invalid(`Invalid value '${hops}' for HttpPutResponseHopLimit.`);
  const userData = params.text('UserData');
  if (userData !== null && !/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(userData))
    throw new AwsError('InvalidUserData.Malformed', 'Invalid BASE64 encoding of user data.');
  for (const mapping of params.items('BlockDeviceMapping')) checkVolume(mapping.at('Ebs'));
  const faces = params.items('NetworkInterface');
  if (faces.some((face) => face.text('DeviceIndex') === null))
    throw new AwsError('MissingParameter', 'Each network interface requires a device index.');
  if (faces.length > 0 && [...params.texts('SecurityGroupId'), ...params.texts('SecurityGroup')].length > 0)
    throw new AwsError(
      'InvalidParameterCombination',
      'Network interfaces and an instance-level security groups may not be specified on the same request',
    );
  if (faces.some((face) => face.texts('SecurityGroupId').length > maxGroups))
    throw new AwsError(
      'SecurityGroupsPerInterfaceLimitExceeded',
      'The maximum number of security groups per interface has been reached.',
    );
  const key = params.text('KeyName');
  if (key !== null) throw new AwsError('InvalidKeyPair.NotFound', `The key pair '${key}' does not exist`);
}

/** AWS's default quota. */
const maxGroups = 5;

function checkVolume(disk: Params): void {
  const snapshot = disk.text('SnapshotId');
  if (snapshot !== null) throw new AwsError('InvalidSnapshot.NotFound', `The snapshot '${snapshot}' does not exist.`);
  const type = disk.text('VolumeType');
  if (type !== null && !volumeTypes.includes(type))
    throw new AwsError('UnknownVolumeType', `The volume type '${type}' is unsupported.`);
  const size = disk.text('VolumeSize');
  if (size !== null && !within(size, 1, 65_536)) throw invalid(`Volume of ${size}GiB is not within 1 and 65536.`);
  const [iops, throughput] = [disk.text('Iops'), disk.text('Throughput')];
  if (throughput !== null && type !== 'gp3')
    throw new AwsError('InvalidParameterCombination', `The parameter throughput is not supported for ${type} volumes.`);
  if (type !== 'gp3') return;
  if (iops !== null && !within(iops, 3_000, 80_000))
    throw invalid(`Volume iops of ${iops} is not within 3000 and 80000.`);
  if (throughput !== null && !within(throughput, 125, 2_000))
    throw invalid(`Throughput of ${throughput} is not within 125 and 2000.`);
  if (Number(iops ?? 3_000) > Math.max(3_000, 500 * Number(size ?? 8)))
    throw invalid(`Iops to volume size ratio of ${Number(iops) / Number(size ?? 8)} is too high; maximum is 500.`);
  if (Number(throughput ?? 125) > Number(iops ?? 3_000) / 4)
    throw invalid(
      `Throughput (MiBps) to iops ratio of ${Number(throughput) / Number(iops ?? 3_000)} is too high; maximum is 0.25.`,
    );
}

const within = (text: string, least: number, most: number): boolean =>
  /^\d+$/.test(text) && Number(text) >= least && Number(text) <= most;

const invalid = (message: string): AwsError => new AwsError('InvalidParameterValue', message);
