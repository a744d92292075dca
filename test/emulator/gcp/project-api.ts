// The APIs that prepare a project, besides Compute Engine: Service Usage, Resource Manager and IAM. Each route names its required
// permission; any other path is 404.
import type { Caller } from './access.ts';
import { GcpError } from './gcp-error.ts';
import { checkPermissions, invalidArgument } from './iam.ts';
import type { Policy, Role } from './iam.ts';
import { checkProjectBody, checkProjectQuery } from './project-bodies.ts';
import type { EmulatedProject } from './project.ts';
import { signBlob } from './signed.ts';

export interface ProjectCall {
  method: string;
  pathname: string;
  query: URLSearchParams;
  body: unknown;
  caller: Caller;
}

export interface ProjectRoute {
  name: string;
  service: string;
  /** The caller's required permission on this resource; null: none. */
  needs: { permission: string; resource: string } | null;
  run: () => object;
}

/** Null when the path is of another API. */
export function projectRoute(
  project: EmulatedProject,
  { method, pathname, query, body, caller }: ProjectCall,
): ProjectRoute | null {
  const [, id, verb, path = ''] = /^\/v1\/projects\/([^/:]+)(?::(\w+)|\/(.*))$/.exec(pathname) ?? [];
  const operation = /^\/v1\/(operations\/.+)$/.exec(pathname)?.[1];
  if (id === undefined && operation === undefined) return null;
  const route = (service: string, name: string, permission: string, run: () => object, resource = 'project') => ({
    ...{ service, name },
    needs: { permission, resource },
    run: () => {
      checkProjectQuery(name, query);
      checkProjectBody(name, body);
      return run();
    },
  });
  if (operation !== undefined)
    return route('serviceusage', 'services.operation', 'serviceusage.operations.get', () => ({
      name: operation,
      done: true,
    }));
  const tested = /^serviceAccounts\/([^:]+):testIamPermissions$/.exec(path)?.[1];
  // An email address identifies an account in any project.
  if (method === 'POST' && tested !== undefined && (id === '-' || id === project.id)) {
    const on = `account:${decodeURIComponent(tested)}`;
    const run = () => permitted(project, caller, on, body);
    return { ...route('iam', 'serviceAccounts.testIamPermissions', '', run), needs: null };
  }
  const signer = decodeURIComponent(/^serviceAccounts\/([^:]+):signBlob$/.exec(path)?.[1] ?? '');
  if (method === 'POST' && signer !== '') {
    const sign = (): object => {
      const { payload }: { payload?: string } = objectIn(body);
      if (payload === undefined) throw invalidArgument('The payload is required.');
      return signBlob(signer, payload);
    };
    return {
      ...{ service: 'iamcredentials', name: 'serviceAccounts.signBlob', run: sign },
      needs: { permission: 'iam.serviceAccounts.signBlob', resource: `account:${signer}` },
    };
  }
  if (id !== project.id) throw new GcpError(403, 'PERMISSION_DENIED', `Permission denied on resource project ${id}.`);
  const { iam } = project;
  const at = `${method} ${verb ?? path.replace(/^(services|serviceAccounts|roles)\/[^:]+/, '$1/*')}`;
  const name = decodeURIComponent(/^\w+\/([^:]+)/.exec(path)?.[1] ?? '');
  switch (at) {
    case 'POST getIamPolicy':
      return route('cloudresourcemanager', 'project.getIamPolicy', 'resourcemanager.projects.getIamPolicy', () =>
        iam.policyOf('project'),
      );
    case 'POST setIamPolicy':
      return route('cloudresourcemanager', 'project.setIamPolicy', 'resourcemanager.projects.setIamPolicy', () =>
        iam.setPolicy('project', policyIn(body)),
      );
    case 'GET services:batchGet':
      return route('serviceusage', 'services.batchGet', 'serviceusage.services.get', () => ({
        services: query
          .getAll('names')
          .map((each) => ({ name: each, parent: 'projects/123456789012', state: stateOf(project, each) })),
      }));
    case 'POST services/*:enable':
      return route('serviceusage', 'services.enable', 'serviceusage.services.enable', () => {
        project.disabled.delete(name.replace('.googleapis.com', ''));
        return { name: `operations/acf.${name}` };
      });
    case 'POST serviceAccounts':
      return route('iam', 'serviceAccounts.create', 'iam.serviceAccounts.create', () => {
        const {
          accountId = '',
          serviceAccount = {},
        }: { accountId?: string; serviceAccount?: { description?: string } } = objectIn(body);
        return iam.createAccount(accountId, serviceAccount.description ?? '');
      });
    case 'GET serviceAccounts/*':
      return route('iam', 'serviceAccounts.get', 'iam.serviceAccounts.get', () => accountNamed(project, name));
    case 'DELETE serviceAccounts/*':
      return route('iam', 'serviceAccounts.delete', 'iam.serviceAccounts.delete', () => {
        iam.accounts.delete(accountNamed(project, name).email);
        iam.policies.delete(`account:${name}`);
        return {};
      });
    case 'POST serviceAccounts/*:getIamPolicy':
      return route('iam', 'serviceAccounts.getIamPolicy', 'iam.serviceAccounts.getIamPolicy', () =>
        iam.policyOf(`account:${accountNamed(project, name).email}`),
      );
    case 'POST serviceAccounts/*:setIamPolicy':
      return route('iam', 'serviceAccounts.setIamPolicy', 'iam.serviceAccounts.setIamPolicy', () =>
        iam.setPolicy(`account:${accountNamed(project, name).email}`, policyIn(body)),
      );
    case 'POST roles':
      return route('iam', 'roles.create', 'iam.roles.create', () => {
        const { roleId = '', role = {} }: { roleId?: string; role?: Partial<Role> } = objectIn(body);
        const { title = '', description = '', stage = 'ALPHA', includedPermissions = [] } = role;
        return shownRole(project, iam.createRole({ id: roleId, title, description, stage, includedPermissions }));
      });
    case 'GET roles/*':
      return route('iam', 'roles.get', 'iam.roles.get', () => shownRole(project, roleNamed(project, name)));
    case 'PATCH roles/*':
      return route('iam', 'roles.patch', 'iam.roles.update', () => {
        const role = roleNamed(project, name);
        if (role.deleted) throw new GcpError(400, 'FAILED_PRECONDITION', `Role ${name} is deleted.`);
        const { includedPermissions = [] }: Partial<Role> = objectIn(body);
        checkPermissions(includedPermissions);
        return shownRole(project, Object.assign(role, { includedPermissions }));
      });
    case 'DELETE roles/*':
      return route('iam', 'roles.delete', 'iam.roles.delete', () =>
        shownRole(
          project,
          Object.assign(roleNamed(project, name), { deleted: true, deletedAtMs: project.clock.nowMs() }),
        ),
      );
    case 'POST roles/*:undelete':
      return route('iam', 'roles.undelete', 'iam.roles.undelete', () => {
        const role = roleNamed(project, name);
        if (!role.deleted) throw new GcpError(400, 'FAILED_PRECONDITION', `Role ${name} is not deleted.`);
        return shownRole(project, Object.assign(role, { deleted: false }));
      });
    default:
      throw new GcpError(404, 'NOT_FOUND', `The emulator has no ${method} ${pathname}.`);
  }
}

/** No permission exists on a missing account. */
function permitted(project: EmulatedProject, caller: Caller, on: string, body: unknown): object {
  const { permissions = [] }: { permissions?: string[] } = objectIn(body);
  checkPermissions(permissions);
  const exists = project.iam.accounts.has(on.replace('account:', ''));
  const granted = permissions.filter((each) => exists && project.access.allows(caller, each, on));
  return granted.length === 0 ? {} : { permissions: granted };
}

const objectIn = (body: unknown): object => {
  if (typeof body === 'object' && body !== null) return body;
  throw invalidArgument('The body must be an object.');
};

function policyIn(body: unknown): Partial<Policy> {
  const { policy }: { policy?: Partial<Policy> } = objectIn(body);
  if (policy === undefined) throw invalidArgument('The policy is required.');
  return policy;
}

const stateOf = (project: EmulatedProject, name: string): string =>
  project.disabled.has((name.split('/').at(-1) ?? '').replace('.googleapis.com', '')) ? 'DISABLED' : 'ENABLED';

function accountNamed({ iam }: EmulatedProject, email: string) {
  const found = iam.accounts.get(email);
  if (found === undefined) throw new GcpError(404, 'NOT_FOUND', `Unknown service account: ${email}`);
  return found;
}

/** A role's name consists of its project and its id. */
const shownRole = ({ id: of }: EmulatedProject, { id, deletedAtMs: _deletedAtMs, ...role }: Role): object => ({
  name: `projects/${of}/roles/${id}`,
  ...role,
});

/** How long a deleted role can be restored; its id stays reserved for another month (Google's documentation of custom roles). */
const restorableMs = 7 * 86_400_000;

function roleNamed({ iam, id: of, clock }: EmulatedProject, id: string): Role {
  const found = iam.roles.get(id);
  if (found === undefined || (found.deleted && clock.nowMs() - (found.deletedAtMs ?? 0) > restorableMs))
    throw new GcpError(404, 'NOT_FOUND', `The role named projects/${of}/roles/${id} was not found.`);
  return found;
}
