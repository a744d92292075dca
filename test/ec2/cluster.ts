// A cluster on the emulated EC2, for tests of features that only EC2 has.
import { createEmulatedCluster } from '../clouds/cluster.ts';
import type { EmulatedCluster, EmulatedClusterOptions } from '../clouds/cluster.ts';
import type { TestCloud } from '../providers/aws-cloud.ts';
import { ec2 } from '../support/clouds.ts';

export type Ec2Cluster = EmulatedCluster;

export const createEc2Cluster = (cloud: TestCloud, options: EmulatedClusterOptions): EmulatedCluster =>
  createEmulatedCluster({ ...cloud, of: ec2 }, options);
