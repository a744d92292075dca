// The clients of Compute Engine. Each is loaded from its own file: the whole package takes seconds and 130 MB. With these
// credentials Google's library retries nothing by itself, so a launch is never repeated unnoticed.
import { DisksClient } from '@google-cloud/compute/build/src/v1/disks_client.js';
import { FirewallsClient } from '@google-cloud/compute/build/src/v1/firewalls_client.js';
import { GlobalOperationsClient } from '@google-cloud/compute/build/src/v1/global_operations_client.js';
import { InstancesClient } from '@google-cloud/compute/build/src/v1/instances_client.js';
import { MachineTypesClient } from '@google-cloud/compute/build/src/v1/machine_types_client.js';
import { RegionInstancesClient } from '@google-cloud/compute/build/src/v1/region_instances_client.js';
import { RegionOperationsClient } from '@google-cloud/compute/build/src/v1/region_operations_client.js';
import { ZoneOperationsClient } from '@google-cloud/compute/build/src/v1/zone_operations_client.js';
import { GoogleAuth } from 'google-auth-library';

import { DeferredCredentials } from './credentials.ts';
import type { GcpAccess } from './settings.ts';

export interface GcpClients {
  project: string;
  region: string;
  instances: InstancesClient;
  regionInstances: RegionInstancesClient;
  regionOperations: RegionOperationsClient;
  zoneOperations: ZoneOperationsClient;
  globalOperations: GlobalOperationsClient;
  disks: DisksClient;
  firewalls: FirewallsClient;
  machineTypes: MachineTypesClient;
  /** For APIs without a client here. */
  accessToken: () => Promise<string>;
  access: GcpAccess;
}

/** Google's library finds the credentials by itself: Application Default Credentials. */
export function createGcpClients(
  { project, region }: { project: string; region: string },
  access: GcpAccess,
): GcpClients {
  const auth = new GoogleAuth({ authClient: new DeferredCredentials(project), projectId: project });
  const shared = { fallback: true as const, projectId: project, auth, ...endpointOf(access.endpoint) };
  return {
    project,
    region,
    instances: new InstancesClient(shared),
    regionInstances: new RegionInstancesClient(shared),
    regionOperations: new RegionOperationsClient(shared),
    zoneOperations: new ZoneOperationsClient(shared),
    globalOperations: new GlobalOperationsClient(shared),
    disks: new DisksClient(shared),
    firewalls: new FirewallsClient(shared),
    machineTypes: new MachineTypesClient(shared),
    accessToken: async () => {
      const token = await auth.getAccessToken();
      return token ?? '';
    },
    access,
  };
}

/** The client ignores a port within `apiEndpoint`. */
function endpointOf(endpoint: string | null): { apiEndpoint?: string; port?: number; protocol?: string } {
  if (endpoint === null) return {};
  const { hostname, port, protocol } = new URL(endpoint);
  const standard = protocol === 'http:' ? 80 : 443;
  return { apiEndpoint: hostname, port: port === '' ? standard : Number(port), protocol: protocol.replace(':', '') };
}
