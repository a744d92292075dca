// The settings of one region: the network of a Google Cloud project, and the names of the operator's resources.
import type { AgentDownload } from '../agent-setup.ts';

export interface GcpSettings {
  project: string;
  region: string;
  /** The zones of the region that may be used. */
  zones: string[];
  /** Names in the project. */
  network: string;
  subnetwork: string;
  networkTags: {
    /** Tags of every instance: the operator's firewall rule lets members reach each other. */
    cluster: string[];
    /** Additional tags of head instances: users' clients reach them. */
    scheduler: string[];
  };
  /** Email of the instances' service account. Without one an instance has no identity token and cannot register. */
  serviceAccount: string;
  /** By workspace, instead of `serviceAccount`. */
  workspaceServiceAccounts: Readonly<Record<string, string>>;
  assignPublicIps: boolean;
  /** `projects/P/global/images/family/F`, by architecture. */
  images: Record<'x86_64' | 'arm64', string>;
  /** An image with an NVIDIA driver; null: GPU instances cannot be launched. */
  gpuImage: string | null;
  /** Google deletes an instance after this many days, even when its control plane no longer exists. */
  maxRunDays: number;
  agent: AgentDownload;
}

/** The service account of the instances of a workspace. */
export function serviceAccountOf(
  { serviceAccount, workspaceServiceAccounts }: Pick<GcpSettings, 'serviceAccount' | 'workspaceServiceAccounts'>,
  workspace: string,
): string {
  const own = Object.hasOwn(workspaceServiceAccounts, workspace) ? workspaceServiceAccounts[workspace] : undefined;
  return own ?? serviceAccount;
}

/** The addresses of Google's APIs. */
export interface GcpAccess {
  /** Another address of the API, e.g. of an emulator; null for Google's. */
  endpoint: string | null;
  loggingEndpoint: string | null;
}
