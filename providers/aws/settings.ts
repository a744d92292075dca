// The settings of one region: the network of an AWS account, and the names of what the operator created there.
import type { Architecture } from '../../domain/offers/offer.ts';

export interface AwsSettings {
  region: string;
  /** One per zone; instances get public addresses there, or reach the internet in another way. */
  subnets: { id: string; zone: string }[];
  securityGroups: {
    /** Of every instance: members reach each other. */
    cluster: string;
    /** Of head instances in addition: users' clients reach them. */
    scheduler: string[];
  };
  /** Name of the instance profile, whose role may write logs; null for none. */
  instanceProfile: string | null;
  assignPublicIps: boolean;
  /** Image with an NVIDIA driver, or the public parameter that names one; null: no instance with a GPU is launched. */
  gpuImage: string | null;
  agent: AgentDownload;
}

/** How an instance downloads its agent: verified by its content's hash. */
export interface AgentDownload {
  url: string;
  sha256: string;
  /** Node for each architecture. */
  node: Record<Architecture, { url: string; sha256: string }>;
  /** PEM of the authority of the API's certificate; null where machines trust it by themselves. */
  apiCa: string | null;
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
