// The request bodies of setup's create calls. Pure, so that the Terraform module uses the same ones.
import { defaultSchedulerPort } from '../../../domain/cluster/capacity/ingress-rules.ts';
import { type AccountRole, accountIdOf, markOf, ruleName, type RuleRole, tagName, type Wanted } from './wanted.ts';

const networkOf = ({ project, name }: Pick<Wanted, 'project' | 'name'>): string =>
  `projects/${project}/global/networks/${name}`;

export const networkBody = (wanted: Wanted) => ({
  name: wanted.name,
  description: markOf(wanted),
  autoCreateSubnetworks: false,
  routingConfig: { routingMode: 'REGIONAL' },
});

/** Instances without public addresses can also reach Google's APIs. */
export const subnetworkBody = (wanted: Wanted, ipCidrRange: string) => ({
  name: wanted.name,
  description: markOf(wanted),
  network: networkOf(wanted),
  ipCidrRange,
  privateIpGoogleAccess: true,
});

/** The allowed traffic. Without source ranges, allows instances with the cluster rule's tag. */
export function passBody(wanted: Wanted, role: RuleRole, ranges: readonly string[]) {
  const targetTags = [tagName(wanted, role)];
  if (role === 'cluster')
    return { sourceTags: [tagName(wanted, 'cluster')], targetTags, allowed: [{ IPProtocol: 'all' }] };
  return { sourceRanges: ranges, targetTags, allowed: [{ IPProtocol: 'tcp', ports: [String(defaultSchedulerPort)] }] };
}

export const ruleBody = (wanted: Wanted, role: RuleRole, ranges: readonly string[]) => ({
  name: ruleName(wanted, role),
  description: markOf(wanted),
  network: networkOf(wanted),
  direction: 'INGRESS',
  ...passBody(wanted, role, ranges),
});

export const accountBody = (wanted: Wanted, role: AccountRole) => ({
  accountId: accountIdOf(wanted, role),
  serviceAccount: {
    displayName: role === 'instance' ? 'Ropewalk instances' : 'Ropewalk control plane',
    description: markOf(wanted),
  },
});

export const bucketBody = ({ bucket, regions, deploymentId }: Wanted) => ({
  name: bucket,
  location: regions[0],
  labels: { 'ropewalk-deployment': deploymentId },
  iamConfiguration: { uniformBucketLevelAccess: { enabled: true }, publicAccessPrevention: 'enforced' },
  // Replaced objects would be kept, and billed, for a week.
  softDeletePolicy: { retentionDurationSeconds: '0' },
});
