// The part of IAM that sets up an account: roles, instance profiles, managed policies and service-linked roles. Names are unique,
// a used resource is not deleted, and a new profile is eventually consistent.
import { AwsError } from './aws-error.ts';
import { hexId } from './state.ts';
import type { Params } from './params.ts';
import {
  conflict,
  document,
  exists,
  maxInlineCharacters,
  missing,
  nameIn,
  policyOf,
  policyOperations,
  shownTags,
  since,
  tagsIn,
} from './iam-policies.ts';
import type { Answer, IamCall, Profile, Role } from './iam-policies.ts';
import type { EmulatedAccount } from './account.ts';
import { iamAnswer } from './xml.ts';
import type { Xml } from './xml.ts';

/** Whether instances can be launched with this profile. */
export function hasProfile(account: EmulatedAccount, name: string): boolean {
  const found = account.iam.profiles.get(name);
  return found !== undefined && found.role !== null && account.clock.nowMs() >= found.knownFromMs;
}

export function callIam(account: EmulatedAccount, params: Params, requestId: string): string {
  const action = params.text('Action') ?? '';
  const operation = operations[action];
  if (operation === undefined) {
    throw new AwsError('InvalidAction', `Could not find operation ${action} for version 2010-05-08`);
  }
  return iamAnswer(action, requestId, operation({ account, iam: account.iam, params }));
}

const operations: Record<string, (call: IamCall) => Answer> = {
  CreateRole: (call) => {
    const name = nameIn(call, 'RoleName');
    if (call.iam.roles.has(name)) throw exists('Role', name);
    const trust = document(call, 'AssumeRolePolicyDocument', 2_048);
    const role: Role = { name, trust, inline: new Map(), attached: new Set(), tags: tagsIn(call), path: '/' };
    call.iam.roles.set(name, role);
    return { Role: shownRole(call, role) };
  },
  GetRole: (call) => ({ Role: shownRole(call, roleOf(call)) }),
  DeleteRole: (call) => {
    const { name, inline, attached } = roleOf(call);
    if (attached.size > 0) throw conflict('Cannot delete entity, must detach all policies first.');
    if (inline.size > 0) throw conflict('Cannot delete entity, must delete policies first.');
    if ([...call.iam.profiles.values()].some(({ role }) => role === name)) {
      throw conflict('Cannot delete entity, must remove roles from instance profile first.');
    }
    call.iam.roles.delete(name);
    return null;
  },
  PutRolePolicy: (call) => {
    roleOf(call).inline.set(nameIn(call, 'PolicyName'), document(call, 'PolicyDocument', maxInlineCharacters));
    return null;
  },
  GetRolePolicy: (call) => {
    const [role, PolicyName] = [roleOf(call), nameIn(call, 'PolicyName')];
    const found = role.inline.get(PolicyName);
    if (found === undefined) throw missing(`The role policy with name ${PolicyName} cannot be found.`);
    return { RoleName: role.name, PolicyName, PolicyDocument: encodeURIComponent(found) };
  },
  DeleteRolePolicy: (call) => {
    const name = nameIn(call, 'PolicyName');
    if (!roleOf(call).inline.delete(name)) throw missing(`The role policy with name ${name} cannot be found.`);
    return null;
  },
  ListRolePolicies: (call) => ({ PolicyNames: [...roleOf(call).inline.keys()], IsTruncated: false }),
  ListAttachedRolePolicies: (call) => ({
    AttachedPolicies: [...roleOf(call).attached].map((arn) => ({ PolicyName: arn.split('/').at(-1), PolicyArn: arn })),
    IsTruncated: false,
  }),
  AttachRolePolicy: (call) => {
    const arn = call.params.text('PolicyArn') ?? '';
    if (!arn.startsWith('arn:aws:iam::aws:policy/')) policyOf(call);
    roleOf(call).attached.add(arn);
    return null;
  },
  DetachRolePolicy: (call) => {
    const arn = call.params.text('PolicyArn') ?? '';
    if (!roleOf(call).attached.delete(arn)) throw missing(`Policy ${arn} was not found.`);
    return null;
  },
  CreateInstanceProfile: (call) => {
    const name = nameIn(call, 'InstanceProfileName');
    if (call.iam.profiles.has(name)) throw exists('Instance Profile', name);
    const knownFromMs = call.account.clock.nowMs() + call.account.delays.visibleMs;
    const profile: Profile = { name, role: null, tags: tagsIn(call), knownFromMs };
    call.iam.profiles.set(name, profile);
    return { InstanceProfile: shownProfile(call, profile) };
  },
  GetInstanceProfile: (call) => ({ InstanceProfile: shownProfile(call, profileOf(call)) }),
  AddRoleToInstanceProfile: (call) => {
    const [profile, role] = [profileOf(call), roleOf(call)];
    if (profile.role !== null) {
      throw new AwsError('LimitExceeded', 'Cannot exceed quota for InstanceSessionsPerInstanceProfile: 1', 409);
    }
    profile.role = role.name;
    return null;
  },
  RemoveRoleFromInstanceProfile: (call) => {
    const [profile, role] = [profileOf(call), roleOf(call)];
    if (profile.role !== role.name) throw missing(`Role ${role.name} is not in the instance profile.`);
    profile.role = null;
    return null;
  },
  DeleteInstanceProfile: (call) => {
    const profile = profileOf(call);
    if (profile.role !== null) throw conflict('Cannot delete entity, must remove roles from instance profile first.');
    call.iam.profiles.delete(profile.name);
    return null;
  },
  ...policyOperations,
  CreateServiceLinkedRole: (call) => {
    const service = call.params.text('AWSServiceName') ?? '';
    const name = linkedRoles[service];
    if (name === undefined) throw new AwsError('InvalidInput', `The service ${service} has no service-linked role.`);
    if (call.iam.roles.has(name)) {
      throw new AwsError(
        'InvalidInput',
        `Service role name ${name} has been taken in this account, please try a different suffix.`,
      );
    }
    const path = `/aws-service-role/${service}/`;
    const role: Role = { name, trust: '{}', inline: new Map(), attached: new Set(), tags: {}, path };
    call.iam.roles.set(name, role);
    return { Role: shownRole(call, role) };
  },
};

const linkedRoles: Record<string, string> = {
  'spot.amazonaws.com': 'AWSServiceRoleForEC2Spot',
  'ec2fleet.amazonaws.com': 'AWSServiceRoleForEC2Fleet',
};

function roleOf(call: IamCall): Role {
  const name = nameIn(call, 'RoleName');
  const found = call.iam.roles.get(name);
  if (found === undefined) throw missing(`The role with name ${name} cannot be found.`);
  return found;
}

function profileOf(call: IamCall): Profile {
  const name = nameIn(call, 'InstanceProfileName');
  const found = call.iam.profiles.get(name);
  if (found === undefined) throw missing(`Instance Profile ${name} cannot be found.`);
  return found;
}

const shownRole = ({ account }: IamCall, { name, trust, tags, path }: Role): Xml => ({
  ...{ Path: path, RoleName: name, RoleId: `AROA${hexId('x').slice(2).toUpperCase()}`, CreateDate: since },
  Arn: `arn:aws:iam::${account.accountId}:role${path}${name}`,
  AssumeRolePolicyDocument: encodeURIComponent(trust),
  Tags: shownTags(tags),
});

function shownProfile(call: IamCall, { name, role, tags }: Profile): Xml {
  const found = role === null ? undefined : call.iam.roles.get(role);
  return {
    ...{ Path: '/', InstanceProfileName: name, InstanceProfileId: `AIPA${name}`, CreateDate: since },
    Arn: `arn:aws:iam::${call.account.accountId}:instance-profile/${name}`,
    Roles: found === undefined ? [] : [shownRole(call, found)],
    Tags: shownTags(tags),
  };
}
