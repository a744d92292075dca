// The desired state of a prepared project. Networks, rules, service accounts and roles have no labels, so their description
// names the deployment. Every name is unique in the project, so a repeated create call is harmless.
import { RopewalkError } from '../../../domain/errors.ts';

export interface Wanted {
  project: string;
  deploymentId: string;
  name: string;
  regions: readonly string[];
  /** null: keep the ranges of an existing rule. */
  clientRanges: readonly string[] | null;
  bucket: string | null;
}

export const accountRoles = ['instance', 'control-plane'] as const;
export type AccountRole = (typeof accountRoles)[number];
export const ruleRoles = ['cluster', 'scheduler'] as const;
export type RuleRole = (typeof ruleRoles)[number];
/** The files of ops/gcp that become custom roles. */
export const customRoles = ['control-plane', 'instance', 'object-store'] as const;
export type CustomRole = (typeof customRoles)[number];

export const markOf = ({ deploymentId, name }: Pick<Wanted, 'deploymentId' | 'name'>): string =>
  `Ropewalk: deployment ${deploymentId}, setup ${name}`;

export const ruleName = ({ name }: Pick<Wanted, 'name'>, role: RuleRole): string => `${name}-${role}`;
/** Network tags of instances, which the rules target. */
export const tagName = ({ name }: Pick<Wanted, 'name'>, role: RuleRole): string =>
  role === 'cluster' ? name : `${name}-scheduler`;
const accountId = ({ name }: Pick<Wanted, 'name'>, role: AccountRole): string =>
  role === 'instance' ? name : `${name}-control-plane`;
export const accountIdOf = accountId;
export const emailOf = (wanted: Pick<Wanted, 'name' | 'project'>, role: AccountRole): string =>
  `${accountId(wanted, role)}@${wanted.project}.iam.gserviceaccount.com`;
/** Role ids may not contain "-". */
export const roleId = ({ name }: Pick<Wanted, 'name'>, role: CustomRole): string =>
  `${name}_${role}`.replaceAll('-', '_');
export const roleName = (wanted: Pick<Wanted, 'name' | 'project'>, role: CustomRole): string =>
  `projects/${wanted.project}/roles/${roleId(wanted, role)}`;

/** A grant of a role to a member. */
export interface Binding {
  on: 'project' | 'instance account' | 'control-plane account' | 'bucket';
  role: string;
  member: string;
}

export function bindingsOf(wanted: Wanted): Binding[] {
  const member = (role: AccountRole): string => `serviceAccount:${emailOf(wanted, role)}`;
  const control = member('control-plane');
  return [
    { on: 'project', role: roleName(wanted, 'control-plane'), member: control },
    { on: 'project', role: roleName(wanted, 'instance'), member: member('instance') },
    // Launching an instance with a service account requires acting as it.
    { on: 'instance account', role: 'roles/iam.serviceAccountUser', member: control },
    ...(wanted.bucket === null
      ? []
      : [
          { on: 'bucket' as const, role: roleName(wanted, 'object-store'), member: control },
          // It signs the URLs by which files go to and from the bucket as itself: its VM has no key.
          { on: 'control-plane account' as const, role: 'roles/iam.serviceAccountTokenCreator', member: control },
        ]),
  ];
}

/** The account whose policy has the binding. */
export const accountOf = (on: 'instance account' | 'control-plane account'): AccountRole =>
  on === 'instance account' ? 'instance' : 'control-plane';

export const rolesOf = ({ bucket }: Pick<Wanted, 'bucket'>): CustomRole[] =>
  customRoles.filter((role) => role !== 'object-store' || bucket !== null);

/** @throws RopewalkError VALIDATION naming the field. */
export function checkWanted({ name, clientRanges, bucket, project }: Wanted): void {
  const refuse = (field: string, message: string, hint: string): never => {
    throw new RopewalkError({ code: 'VALIDATION', field, message, hint });
  };
  if (!/^[a-z][a-z0-9-]{4,28}[a-z0-9]$/.test(project))
    refuse('project', `${JSON.stringify(project)} is not the id of a project.`, 'Name it with --project.');
  // With its suffix it is a service account id, which has at most 30 characters.
  if (!/^[a-z][a-z0-9-]{4,14}[a-z0-9]$/.test(name))
    refuse('name', `--name ${name}: it must have 6 to 16 of a-z, 0-9 and "-".`, 'It names service accounts too.');
  const wrong = clientRanges?.find((range) => !/^\d+(\.\d+){3}\/\d{1,2}$/.test(range));
  if (wrong !== undefined)
    refuse('clientRange', `--client-range ${wrong} is not a range of IPv4 addresses.`, 'Write it as 203.0.113.0/24.');
  if (bucket !== null && !/^[a-z0-9][a-z0-9_-]{1,61}[a-z0-9]$/.test(bucket))
    refuse('bucket', `--bucket ${bucket} is not the name of a bucket.`, 'It has 3 to 63 of a-z, 0-9, "-" and "_".');
}
