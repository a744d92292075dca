// Names that both sides of a cloud must agree on: what the control plane writes or reads, and the agent on an instance.

/** The line of user data that tells an agent how to call home: base64 of its JSON after this word. */
export const bootMarker = '# ropewalk-boot:';

/** Where CloudWatch keeps what a workspace's instances print. */
export const logGroupOf = (workspace: string): string => `ropewalk/${workspace}`;

/** Streams of a cluster share a prefix, so that one call reads them all. */
export const logStreamOf = (cluster: number, instance: string): string => `${cluster}/${instance}`;

export const logRetentionDays = 30;

/** How EC2 names its instances. */
export const ec2InstanceId = /^i-[0-9a-f]{8,17}$/;

/** Task queue of the activities of a cloud's region, which any Temporal worker with access to the account can run. */
export const cloudQueue = (provider: string, region: string): string => `provider/${provider}/${region}`;
