// Plans the account's IAM changes from its current state: service-linked roles, the instances' role and profile, and the
// control plane's policy.
import type { SetupStep } from '../../manifest.ts';

export interface FoundIdentity {
  /** Existing ones. */
  linkedRoles: readonly string[];
  /** `policy` is our inline policy of the role; null when missing. */
  role: { policy: string | null } | null;
  profile: { hasRole: boolean } | null;
  /** `versions`: older versions, oldest last. `attachedTo`: roles. */
  policy: { arn: string; document: string; versions: readonly string[]; attachedTo: readonly string[] } | null;
}

export interface WantedIdentity {
  name: string;
  instancePolicy: string;
  controlPlanePolicy: string;
  controlPlaneRole: string | null;
}

export type IdentityChange =
  | { do: 'createLinkedRole'; service: string }
  | { do: 'createRole' | 'putRolePolicy' | 'createProfile' | 'addRole' | 'createPolicy' }
  | { do: 'updatePolicy'; drop: string | null }
  | { do: 'attachPolicy'; role: string };

export interface IdentityStep extends SetupStep {
  change: IdentityChange | null;
}

/** EC2 creates these roles at first use, which the control plane may not do. */
export const linkedRoles: Readonly<Record<string, string>> = {
  'spot.amazonaws.com': 'AWSServiceRoleForEC2Spot',
  'ec2fleet.amazonaws.com': 'AWSServiceRoleForEC2Fleet',
};
export const policyName = (name: string): string => `${name}-control-plane`;
/** IAM keeps five versions of a managed policy. */
const maxOlder = 4;

export function planIdentity(found: FoundIdentity, wanted: WantedIdentity): IdentityStep[] {
  const { name } = wanted;
  const steps: IdentityStep[] = [];
  const add = (kind: string, label: string, detail: string, change: IdentityChange | null, isChange = false): void => {
    const action = change === null ? 'keep' : isChange ? 'change' : 'create';
    steps.push({ action, region: null, kind, name: label, id: null, detail, change });
  };
  for (const [service, role] of Object.entries(linkedRoles)) {
    const exists = found.linkedRoles.includes(role);
    add(
      'service-linked role',
      role,
      `of ${service}; the account keeps it`,
      exists ? null : { do: 'createLinkedRole', service },
    );
  }
  const { role, profile, policy } = found;
  add('role', name, 'of instances', role === null ? { do: 'createRole' } : null);
  if (!isSame(role?.policy ?? null, wanted.instancePolicy)) {
    add('role', name, 'may write logs (ops/aws/instance.json)', { do: 'putRolePolicy' }, true);
  }
  add('instance profile', name, '', profile === null ? { do: 'createProfile' } : null);
  if (profile?.hasRole !== true) add('instance profile', name, `has the role ${name}`, { do: 'addRole' }, true);
  const label = policyName(name);
  add(
    'policy',
    label,
    'of the control plane (ops/aws/control-plane.json)',
    policy === null ? { do: 'createPolicy' } : null,
  );
  if (policy !== null && !isSame(policy.document, wanted.controlPlanePolicy)) {
    const drop = policy.versions.length >= maxOlder ? (policy.versions.at(-1) ?? null) : null;
    add('policy', label, 'a new version', { do: 'updatePolicy', drop }, true);
  }
  const to = wanted.controlPlaneRole;
  if (to !== null && policy?.attachedTo.includes(to) !== true) {
    add('policy', label, `attach it to role ${to}`, { do: 'attachPolicy', role: to }, true);
  }
  return steps;
}

function isSame(one: string | null, other: string): boolean {
  return one !== null && canonical(JSON.parse(one)) === canonical(JSON.parse(other));
}

/** IAM keeps the text as written; people reformat it. */
function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
