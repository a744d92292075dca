// Names that both sides of a cloud must agree on: what the control plane writes or reads, and the agent on an instance.

/** The line of user data with which an agent finds the API: base64 of its JSON after this word. */
export const bootMarker = '# ropewalk-boot:';

/** Where CloudWatch keeps what a workspace's instances print. */
export const logGroupOf = (workspace: string): string => `ropewalk/${workspace}`;

/** Streams of a cluster share a prefix, so that one call reads them all. */
export const logStreamOf = (cluster: number, instance: string): string => `${cluster}/${instance}`;

export const logRetentionDays = 30;

/** How EC2 names its instances. */
export const ec2InstanceId = /^i-[0-9a-f]{8,17}$/;

/** Instances of Compute Engine, as Ropewalk names them: their owner, their launch, their slot. */
export const gceInstanceId = /^rw-[0-9a-f]{10}-[0-9a-f]{10}-[0-9]{1,6}$/;

/** Metadata of an instance of Compute Engine with which its agent finds the API: JSON. */
export const gceBootKey = 'ropewalk-boot';

/** Who an identity token of an instance of Compute Engine is for: its deployment, so that no other takes it. */
export const gceAudience = (deploymentId: string): string => `https://ropewalk.invalid/deployments/${deploymentId}`;

/** The log of Cloud Logging that holds what instances print, and the labels of its entries. */
export const gceLog = {
  name: 'ropewalk',
  workspace: 'ropewalk_workspace',
  cluster: 'ropewalk_cluster',
  instance: 'ropewalk_instance',
};

/** Task queue of the activities of a cloud's region, which any Temporal worker with access to the account can run. */
export const cloudQueue = (provider: string, region: string): string => `provider/${provider}/${region}`;
