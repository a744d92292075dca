// Reads and changes the account's IAM resources.
import {
  AddRoleToInstanceProfileCommand,
  AttachRolePolicyCommand,
  CreateInstanceProfileCommand,
  CreatePolicyCommand,
  CreatePolicyVersionCommand,
  CreateRoleCommand,
  CreateServiceLinkedRoleCommand,
  DeletePolicyVersionCommand,
  GetInstanceProfileCommand,
  GetPolicyCommand,
  GetPolicyVersionCommand,
  GetRoleCommand,
  GetRolePolicyCommand,
  type IAMClient,
  ListEntitiesForPolicyCommand,
  ListPolicyVersionsCommand,
  PutRolePolicyCommand,
} from '@aws-sdk/client-iam';

import { RopewalkError } from '../../../domain/errors.ts';
import type { SetupStep } from '../../manifest.ts';
import { codeOf } from '../sdk-errors.ts';
import { type Calls, explained, settled } from './calls.ts';
import {
  type FoundIdentity,
  type IdentityChange,
  type IdentityStep,
  linkedRoles,
  policyName,
  type WantedIdentity,
} from './plan-identity.ts';
import { instanceTrust } from './policies.ts';
import { isOwn, setupTags, type Wanted } from './wanted.ts';

const inlinePolicy = 'ropewalk-instance';

export const policyArn = (account: string, name: string): string =>
  `arn:aws:iam::${account}:policy/${policyName(name)}`;

/** @throws RopewalkError CONFLICT when a name belongs to something else. */
export async function findIdentity(iam: IAMClient, account: string, wanted: Wanted): Promise<FoundIdentity> {
  const { name } = wanted;
  const linked = await Promise.all(
    Object.values(linkedRoles).map(async (role) => ((await roleNamed(iam, role)) === null ? [] : [role])),
  );
  const role = await roleNamed(iam, name);
  if (role !== null) requireOwn(role.Tags, wanted, `role ${name}`);
  const profile = await orNull(iam.send(new GetInstanceProfileCommand({ InstanceProfileName: name })));
  if (profile !== null) requireOwn(profile.InstanceProfile?.Tags, wanted, `instance profile ${name}`);
  return {
    linkedRoles: linked.flat(),
    role: role === null ? null : { policy: await inlineOf(iam, name) },
    profile:
      profile === null
        ? null
        : { hasRole: (profile.InstanceProfile?.Roles ?? []).some(({ RoleName }) => RoleName === name) },
    policy: await findPolicy(iam, policyArn(account, name), wanted),
  };
}

async function findPolicy(iam: IAMClient, arn: string, wanted: Wanted): Promise<FoundIdentity['policy']> {
  const found = await orNull(iam.send(new GetPolicyCommand({ PolicyArn: arn })));
  if (found === null) return null;
  requireOwn(found.Policy?.Tags, wanted, `policy ${policyName(wanted.name)}`);
  const current = found.Policy?.DefaultVersionId;
  const { PolicyVersion } = await iam.send(new GetPolicyVersionCommand({ PolicyArn: arn, VersionId: current }));
  const { Versions = [] } = await iam.send(new ListPolicyVersionsCommand({ PolicyArn: arn }));
  const { PolicyRoles = [] } = await iam.send(new ListEntitiesForPolicyCommand({ PolicyArn: arn }));
  return {
    arn,
    document: decodeURIComponent(PolicyVersion?.Document ?? '{}'),
    versions: Versions.flatMap(({ VersionId, IsDefaultVersion }) =>
      VersionId === undefined || IsDefaultVersion === true ? [] : [VersionId],
    ),
    attachedTo: PolicyRoles.flatMap(({ RoleName }) => RoleName ?? []),
  };
}

async function inlineOf(iam: IAMClient, RoleName: string): Promise<string | null> {
  const found = await orNull(iam.send(new GetRolePolicyCommand({ RoleName, PolicyName: inlinePolicy })));
  return found === null ? null : decodeURIComponent(found.PolicyDocument ?? '{}');
}

export const roleNamed = async (iam: IAMClient, RoleName: string) =>
  (await orNull(iam.send(new GetRoleCommand({ RoleName }))))?.Role ?? null;

export async function orNull<T>(answer: Promise<T>): Promise<T | null> {
  try {
    return await answer;
  } catch (error) {
    if (codeOf(error) === 'NoSuchEntityException') return null;
    throw error;
  }
}

function requireOwn(
  tags: readonly { Key: string | undefined; Value: string | undefined }[] | undefined,
  wanted: Wanted,
  what: string,
): void {
  if (isOwn([...(tags ?? [])], wanted)) return;
  throw new RopewalkError({
    code: 'CONFLICT',
    message: `The account has a ${what} that this deployment did not create.`,
    hint: 'Choose another name with --name.',
  });
}

export async function applyIdentity(
  calls: Calls,
  { wanted, identity, account }: { wanted: Wanted; identity: WantedIdentity; account: string },
  steps: readonly IdentityStep[],
  onDone: (step: SetupStep) => void,
): Promise<void> {
  for (const { change, ...step } of steps) {
    calls.signal.throwIfAborted();
    if (change === null) continue;
    await perform(calls, { wanted, identity, account }, change).catch((error: unknown) => {
      throw explained(`${step.action} ${step.kind} ${step.name}`, error);
    });
    onDone(step);
  }
}

async function perform(
  calls: Calls,
  { wanted, identity, account }: { wanted: Wanted; identity: WantedIdentity; account: string },
  change: IdentityChange,
): Promise<unknown> {
  const { iam } = calls;
  const { name } = identity;
  const Tags = setupTags(wanted).map(({ Key = '', Value = '' }) => ({ Key, Value }));
  const PolicyArn = policyArn(account, name);
  // A retry after a lost answer finds the first attempt's resource; the plan checked that the name was free.
  const once = (call: () => Promise<unknown>): Promise<unknown> =>
    settled(calls, call, ['EntityAlreadyExistsException']);
  switch (change.do) {
    case 'createLinkedRole':
      // A console or a launch created the role meanwhile.
      return settled(calls, () => iam.send(new CreateServiceLinkedRoleCommand({ AWSServiceName: change.service })), [
        'InvalidInputException',
        'EntityAlreadyExistsException',
      ]);
    case 'createRole': {
      const Description = 'Instances of Ropewalk';
      const trust = { AssumeRolePolicyDocument: instanceTrust };
      return once(() => iam.send(new CreateRoleCommand({ RoleName: name, ...trust, Description, Tags })));
    }
    case 'putRolePolicy': {
      const policy = { PolicyName: inlinePolicy, PolicyDocument: identity.instancePolicy };
      return once(() => iam.send(new PutRolePolicyCommand({ RoleName: name, ...policy })));
    }
    case 'createProfile':
      return once(() => iam.send(new CreateInstanceProfileCommand({ InstanceProfileName: name, Tags })));
    case 'addRole': {
      const add = new AddRoleToInstanceProfileCommand({ InstanceProfileName: name, RoleName: name });
      // LimitExceeded: the profile has a role, which is this one after a lost answer.
      return settled(calls, () => iam.send(add), ['LimitExceededException']);
    }
    case 'createPolicy': {
      const PolicyDocument = identity.controlPlanePolicy;
      return once(() => iam.send(new CreatePolicyCommand({ PolicyName: policyName(name), PolicyDocument, Tags })));
    }
    case 'updatePolicy': {
      if (change.drop !== null) await iam.send(new DeletePolicyVersionCommand({ PolicyArn, VersionId: change.drop }));
      const PolicyDocument = identity.controlPlanePolicy;
      return iam.send(new CreatePolicyVersionCommand({ PolicyArn, PolicyDocument, SetAsDefault: true }));
    }
    case 'attachPolicy':
      return settled(calls, () => iam.send(new AttachRolePolicyCommand({ PolicyArn, RoleName: change.role })));
  }
}
