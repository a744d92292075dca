// What an AWS account lends to Ropewalk: its network and the names of what was set up there. Given by configuration.
import type { Architecture } from '../../domain/offers/offer.ts';

export interface AwsSettings {
  region: string;
  /** One per zone; instances get public addresses there, or reach the internet by other ways. */
  subnets: { id: string; zone: string }[];
  securityGroups: {
    /** On every instance: members reach each other. */
    cluster: string;
    /** Also on head instances: where users' clients come in. */
    scheduler: string[];
  };
  /** Name of the instance profile, whose role may write logs; null for none. */
  instanceProfile: string | null;
  assignPublicIps: boolean;
  agent: AgentDownload;
}

/** How an instance gets its agent: by content, whatever the network says. */
export interface AgentDownload {
  url: string;
  sha256: string;
  /** Node for each architecture. */
  node: Record<Architecture, { url: string; sha256: string }>;
  /** `sha256//...` of the public key of the API's certificate, as curl's --pinnedpubkey takes it; null trusts the system's CAs. */
  pinnedPublicKey: string | null;
}

/** Tags by which everything of ours is known; a value names its owner. */
export const tagKeys = {
  deployment: 'ropewalk:deployment',
  workspace: 'ropewalk:workspace',
  cluster: 'ropewalk:cluster',
  name: 'Name',
  role: 'ropewalk:role',
  slot: 'ropewalk:slot',
  /** Of launch templates. */
  leftOut: 'ropewalk:left-out',
} as const;
