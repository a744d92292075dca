// Service accounts, custom roles and IAM policies, as far as setup uses them: their existence, permissions, and IAM's refusals.
import { GcpError } from './gcp-error.ts';

export interface Policy {
  version: number;
  etag: string;
  bindings: { role: string; members: string[]; condition?: object }[];
}

interface Account {
  email: string;
  description: string;
}

export interface Role {
  id: string;
  title: string;
  description: string;
  stage: string;
  includedPermissions: string[];
  deleted: boolean;
  /** When, by the project's clock. */
  deletedAtMs?: number;
}

export interface Iam {
  accounts: Map<string, Account>;
  roles: Map<string, Role>;
  /** `project`, `account:EMAIL` or `bucket:NAME`; the project's policy applies to all its resources too. */
  policies: Map<string, Policy>;
  allows(email: string, permission: string, resource: string): boolean;
  policyOf(resource: string): Policy;
  /** @throws GcpError 409 when the policy was changed since it was read, 400 for a member or role that does not exist. */
  setPolicy(resource: string, wanted: Partial<Policy>): Policy;
  createAccount(id: string, description: string): Account;
  createRole(role: Omit<Role, 'deleted'>): Role;
}

/** Of Google's own roles, those that are granted here. */
const predefined: Record<string, string[]> = {
  'roles/iam.serviceAccountUser': ['iam.serviceAccounts.actAs'],
  'roles/iam.serviceAccountTokenCreator': ['iam.serviceAccounts.getAccessToken', 'iam.serviceAccounts.signBlob'],
};

export function createIam(project: string, existing: string): Iam {
  let changes = 0;
  const iam: Iam = {
    accounts: new Map([[existing, { email: existing, description: '' }]]),
    roles: new Map(),
    policies: new Map(),
    allows(email, permission, resource) {
      const granted = [...new Set(['project', resource])].flatMap((each) => iam.policyOf(each).bindings);
      return granted
        .filter(({ members }) => members.includes(`serviceAccount:${email}`))
        .some(({ role }) => permissionsOf(role).includes(permission));
    },
    policyOf: (resource) => iam.policies.get(resource) ?? { version: 1, etag: 'ACAB', bindings: [] },
    setPolicy(resource, { etag, bindings = [] }) {
      if (etag !== undefined && etag !== iam.policyOf(resource).etag)
        throw new GcpError(
          409,
          'ABORTED',
          'There were concurrent policy changes. Please retry the whole read-modify-write.',
        );
      for (const { role, members } of bindings) {
        if (predefined[role] === undefined && iam.roles.get(lastOf(role))?.deleted !== false)
          throw invalidArgument(`Role ${role} does not exist in the resource's hierarchy.`);
        for (const member of members) {
          const [kind, email = ''] = member.split(':');
          if (kind === 'serviceAccount' && !iam.accounts.has(email))
            throw invalidArgument(`Service account ${email} does not exist.`);
        }
      }
      changes += 1;
      const policy = { version: 1, etag: `BwX${changes}=`, bindings };
      iam.policies.set(resource, policy);
      return policy;
    },
    createAccount(id, description) {
      if (!/^[a-z][-a-z0-9]{4,28}[a-z0-9]$/.test(id))
        throw invalidArgument(`Invalid service account ID (${id}), it must be 6 to 30 characters long.`);
      const email = `${id}@${project}.iam.gserviceaccount.com`;
      if (iam.accounts.has(email))
        throw new GcpError(409, 'ALREADY_EXISTS', `Service account ${id} already exists within project ${project}.`);
      const account = { email, description };
      iam.accounts.set(email, account);
      return account;
    },
    createRole(role) {
      const before = iam.roles.get(role.id);
      if (!/^[a-zA-Z0-9_.]{3,64}$/.test(role.id)) throw invalidArgument(`The role ID ${role.id} is invalid.`);
      if (before?.deleted === true)
        throw new GcpError(
          400,
          'FAILED_PRECONDITION',
          `You can't create a role with role_id (${role.id}) where there is an existing role with that role_id in a deleted state.`,
        );
      if (before !== undefined)
        throw new GcpError(409, 'ALREADY_EXISTS', `A role named ${role.id} in project ${project} already exists.`);
      checkPermissions(role.includedPermissions);
      const created = { ...role, deleted: false };
      iam.roles.set(role.id, created);
      return created;
    },
  };
  const permissionsOf = (role: string): string[] => {
    const custom = iam.roles.get(lastOf(role));
    return predefined[role] ?? (custom === undefined || custom.deleted ? [] : custom.includedPermissions);
  };
  return iam;
}

export function checkPermissions(permissions: readonly string[]): void {
  const wrong = permissions.find((each) => !/^[a-z]+\.[a-zA-Z]+\.[a-zA-Z]+$/.test(each));
  if (wrong !== undefined) throw invalidArgument(`Permission ${wrong} is not valid.`);
}

const lastOf = (name: string): string => name.split('/').at(-1) ?? '';
export const invalidArgument = (message: string): GcpError => new GcpError(400, 'INVALID_ARGUMENT', message);
