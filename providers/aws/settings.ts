// The settings of one region: the network of an AWS account, and the names of the operator's resources.
import type { InstanceRole } from '../../domain/cluster/state.ts';
import type { AgentDownload } from '../agent-setup.ts';

export interface Subnet {
  id: string;
  zone: string;
}

export interface AwsSettings {
  region: string;
  /** One subnet per zone; instances there have public addresses or another route to the internet. */
  subnets: Subnet[];
  /** Workers' subnets, in the same zones, without public addresses; null: `subnets`. */
  workerSubnets: Subnet[] | null;
  securityGroups: {
    /** The group of every instance: members reach each other. */
    cluster: string;
    /** Additional groups of head instances: users' clients reach them. */
    scheduler: string[];
  };
  /** The instance profile's name; its role may write logs. null for none. */
  instanceProfile: string | null;
  /** Maps a workspace to its instance profile; other workspaces use `instanceProfile`. */
  workspaceProfiles: Readonly<Record<string, string>>;
  assignPublicIps: boolean;
  /** An image with an NVIDIA driver, or the public parameter that names one; null: GPU instances cannot be launched. */
  gpuImage: string | null;
  agent: AgentDownload;
}

export const subnetsOf = (
  { subnets, workerSubnets }: Pick<AwsSettings, 'subnets' | 'workerSubnets'>,
  role: InstanceRole,
): Subnet[] => (role === 'worker' ? (workerSubnets ?? subnets) : subnets);

export const hasPublicAddress = (
  { assignPublicIps, workerSubnets }: Pick<AwsSettings, 'assignPublicIps' | 'workerSubnets'>,
  role: InstanceRole,
): boolean => assignPublicIps && (role === 'head' || workerSubnets === null);

export function profileOf(
  { instanceProfile, workspaceProfiles }: Pick<AwsSettings, 'instanceProfile' | 'workspaceProfiles'>,
  workspace: string,
): string | null {
  const own = Object.hasOwn(workspaceProfiles, workspace) ? workspaceProfiles[workspace] : undefined;
  return own ?? instanceProfile;
}

/** Tags of all resources that Ropewalk creates. */
export const tagKeys = {
  deployment: 'ropewalk:deployment',
  workspace: 'ropewalk:workspace',
  cluster: 'ropewalk:cluster',
  name: 'Name',
  role: 'ropewalk:role',
  slot: 'ropewalk:slot',
  /** On launch templates: the pools that the launch excluded. */
  exclusions: 'ropewalk:excluded-pools',
} as const;
