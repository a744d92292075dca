// The caller and its permissions: the part of IAM that the emulated project needs. An access token identifies a caller. A caller
// without an entry is an owner of the project, like the person who sets it up.
import { GcpError } from './gcp-error.ts';
import type { Iam } from './iam.ts';

export interface Caller {
  email: string;
  /** null: every permission; `granted`: the grants of the IAM policies. */
  permissions: ReadonlySet<string> | null | 'granted';
}

export interface Access {
  /** @throws GcpError 401 without a valid token. */
  callerOf(authorization: string | undefined): Caller;
  /** The caller of requests that this service account signed. */
  callerNamed(email: string): Caller;
  /** The service account of the control plane's machine. */
  machineEmail(): string;
  /** Gives the control plane's machine this service account; null: a project owner's. */
  runAs(email: string | null): void;
  /** Gives this token these permissions from now on; null: all; `revoked`: the token becomes invalid. */
  set(token: string, permissions: readonly string[] | null | 'revoked'): void;
  /** Every permission that was ever required, by token: the oracle of tests of roles. */
  used(): Record<string, string[]>;
  allows(caller: Caller, permission: string, resource: string): boolean;
  /** @throws GcpError 403 */
  require(caller: Caller, permission: string, resource: string, refusal?: (caller: Caller) => GcpError): void;
}

/** Issued by the metadata server of the control plane's machine. */
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
