// The settings of one region: the network of an AWS account, and the names of what the operator created there.
import type { InstanceRole } from '../../domain/cluster/state.ts';
import type { AgentDownload } from '../agent-setup.ts';

export interface Subnet {
  id: string;
  zone: string;
}

export interface AwsSettings {
  region: string;
  /** One per zone; instances get public addresses there, or reach the internet in another way. */
  subnets: Subnet[];
  /** Of workers, in the same zones, without public addresses; null: those of every instance. */
  workerSubnets: Subnet[] | null;
  securityGroups: {
    /** Of every instance: members reach each other. */
    cluster: string;
    /** Of head instances in addition: users' clients reach them. */
    scheduler: string[];
  };
  /** Name of the instance profile, whose role may write logs; null for none. */
  instanceProfile: string | null;
  /** Workspace -> its instance profile; the others have `instanceProfile`. */
  workspaceProfiles: Readonly<Record<string, string>>;
  assignPublicIps: boolean;
  /** Image with an NVIDIA driver, or the public parameter that names one; null: no instance with a GPU is launched. */
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

/** Tags of everything that Ropewalk creates. */
export const tagKeys = {
  deployment: 'ropewalk:deployment',
  workspace: 'ropewalk:workspace',
  cluster: 'ropewalk:cluster',
  name: 'Name',
  role: 'ropewalk:role',
  slot: 'ropewalk:slot',
  /** Of launch templates: the pools that the launch excluded. */
  exclusions: 'ropewalk:excluded-pools',
} as const;
