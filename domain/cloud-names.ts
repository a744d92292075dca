// Names that the control plane and the agent on an instance share.

/** Prefix of the line in user data with which an agent finds the API; base64 of its JSON follows. */
export const bootMarker = '# ropewalk-boot:';

/** The CloudWatch log group for the output of a workspace's instances. */
export const logGroupOf = (workspace: string): string => `ropewalk/${workspace}`;

/** The streams of a cluster share a prefix, so one call reads all of them. */
export const logStreamOf = (cluster: number, instance: string): string => `${cluster}/${instance}`;

export const logRetentionDays = 30;

/** The format of EC2's instance ids. */
export const ec2InstanceId = /^i-[0-9a-f]{8,17}$/;

/** The format of Ropewalk's names for Compute Engine instances: owner, launch, slot. */
export const gceInstanceId = /^rw-[0-9a-f]{10}-[0-9a-f]{10}-[0-9]{1,6}$/;

/** Metadata key of a Compute Engine instance with which its agent finds the API; the value is JSON. */
export const gceBootKey = 'ropewalk-boot';

/** The audience of an identity token of a Compute Engine instance: one deployment, because no other may accept the token. */
export const gceAudience = (deploymentId: string): string => `https://ropewalk.invalid/deployments/${deploymentId}`;

/** The Cloud Logging log for the output of instances, and the labels of its entries. */
export const gceLog = {
  name: 'ropewalk',
  workspace: 'ropewalk_workspace',
  cluster: 'ropewalk_cluster',
  instance: 'ropewalk_instance',
};

/** Task queue for the activities of a cloud region. Any Temporal worker with access to the account can run them. */
export const cloudQueue = (provider: string, region: string): string => `provider/${provider}/${region}`;
