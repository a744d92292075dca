// Who calls, and what the caller may do: IAM as far as the emulated project needs it. A caller is known by its access token. One
// without an entry is an owner of the project, as the person who sets it up.
import { GcpError } from './gcp-error.ts';
import type { Iam } from './iam.ts';

export interface Caller {
  email: string;
  /** null: every permission; `granted`: those that IAM policies give to it. */
  permissions: ReadonlySet<string> | null | 'granted';
}

export interface Access {
  /** @throws GcpError 401 without a valid token. */
  callerOf(authorization: string | undefined): Caller;
  /** Of what this service account has signed. */
  callerNamed(email: string): Caller;
  /** Of the machine of the control plane. */
  machineEmail(): string;
  /** The machine of the control plane has this service account; null: that of an owner of the project. */
  runAs(email: string | null): void;
  /** From now on this token has these permissions; null: all; `revoked`: Google knows it no more. */
  set(token: string, permissions: readonly string[] | null | 'revoked'): void;
  /** Every permission that was ever asked for, by token: the oracle of tests of roles. */
  used(): Record<string, string[]>;
  allows(caller: Caller, permission: string, resource: string): boolean;
  /** @throws GcpError 403 */
  require(caller: Caller, permission: string, resource: string, refusal?: (caller: Caller) => GcpError): void;
}

/** Of the metadata server of the machine that the control plane runs on. */
export const controlPlaneToken = 'emulated-control-plane';

export function createAccess(project: string, iam: Iam): Access {
  let account: string | null = null;
  const known = new Map<string, ReadonlySet<string> | null | 'revoked'>();
  const used = new Map<string, Set<string>>();
  const allows = ({ email, permissions }: Caller, permission: string, resource: string): boolean => {
    if (permissions === null) return true;
    return permissions === 'granted' ? iam.allows(email, permission, resource) : permissions.has(permission);
  };
  const emailOf = (token: string): string => `${token.replace('emulated-', '')}@${project}.iam.gserviceaccount.com`;
  const machineEmail = (): string => account ?? emailOf(controlPlaneToken);
  return {
    machineEmail,
    callerNamed(email) {
      const permissions = known.get(controlPlaneToken) ?? null;
      if (account !== null || email !== machineEmail()) return { email, permissions: 'granted' };
      return { email, permissions: permissions === 'revoked' ? new Set() : permissions };
    },
    callerOf(authorization) {
      const token = /^Bearer (.+)$/.exec(authorization ?? '')?.[1];
      if (token === undefined)
        throw new GcpError(401, 'required', 'Request is missing required authentication credential.');
      if (token === controlPlaneToken && account !== null) return { email: account, permissions: 'granted' };
      const permissions = known.get(token) ?? null;
      if (permissions === 'revoked') throw new GcpError(401, 'authError', 'Invalid Credentials');
      return { email: emailOf(token), permissions };
    },
    runAs: (email) => {
      account = email;
    },
    set: (token, permissions) =>
      void known.set(token, permissions === null || permissions === 'revoked' ? permissions : new Set(permissions)),
    used: () => Object.fromEntries([...used].map(([email, all]) => [email, [...all].sort()])),
    allows,
    require(caller, permission, resource, refusal = deniedBy(permission, resource)) {
      const seen = used.get(caller.email) ?? new Set();
      used.set(caller.email, seen.add(permission));
      if (!allows(caller, permission, resource)) throw refusal(caller);
    },
  };
}

const deniedBy = (permission: string, resource: string) => (): GcpError =>
  new GcpError(403, 'forbidden', `Required '${permission}' permission for '${resource}'`);
