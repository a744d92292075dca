// Deletes setup's IAM resources. Policies that others attached to the role are detached and stay; service-linked roles stay
// too, because other software of the account may use them.
import {
  DeleteInstanceProfileCommand,
  DeletePolicyCommand,
  DeletePolicyVersionCommand,
  DeleteRoleCommand,
  DeleteRolePolicyCommand,
  DetachRolePolicyCommand,
  type IAMClient,
  ListAttachedRolePoliciesCommand,
  ListRolePoliciesCommand,
  RemoveRoleFromInstanceProfileCommand,
} from '@aws-sdk/client-iam';

import type { SetupStep } from '../../manifest.ts';
import { findIdentity, orNull } from './identity.ts';
import { policyName } from './plan-identity.ts';
import type { Removal } from './remove-network.ts';
import type { Wanted } from './wanted.ts';

export async function planIdentityRemoval(iam: IAMClient, account: string, wanted: Wanted): Promise<Removal[]> {
  const { role, profile, policy } = await findIdentity(iam, account, wanted);
  const { name } = wanted;
  const removals: Removal[] = [];
  const add = (kind: string, label: string, detail: string, remove: Removal['remove']): void => {
    const step: SetupStep = { action: 'delete', region: null, kind, name: label, id: null, detail };
    removals.push({ step, remove });
  };
  if (profile !== null) {
    add('instance profile', name, '', async (calls) => {
      const both = { InstanceProfileName: name, RoleName: name };
      if (profile.hasRole) await orNull(calls.iam.send(new RemoveRoleFromInstanceProfileCommand(both)));
      await calls.iam.send(new DeleteInstanceProfileCommand({ InstanceProfileName: name }));
    });
  }
  if (role !== null) {
    const { AttachedPolicies = [] } = await iam.send(new ListAttachedRolePoliciesCommand({ RoleName: name }));
    const { PolicyNames = [] } = await iam.send(new ListRolePoliciesCommand({ RoleName: name }));
    const attached = AttachedPolicies.map((each) => each.PolicyName).join(', ');
    add('role', name, attached === '' ? '' : `detaches ${attached}`, async (calls) => {
      for (const { PolicyArn } of AttachedPolicies) {
        await orNull(calls.iam.send(new DetachRolePolicyCommand({ RoleName: name, PolicyArn })));
      }
      for (const PolicyName of PolicyNames) {
        await orNull(calls.iam.send(new DeleteRolePolicyCommand({ RoleName: name, PolicyName })));
      }
      await calls.iam.send(new DeleteRoleCommand({ RoleName: name }));
    });
  }
  if (policy !== null) {
    const { arn: PolicyArn, attachedTo, versions } = policy;
    const detail = attachedTo.length === 0 ? '' : `detached from ${attachedTo.join(', ')}`;
    add('policy', policyName(name), detail, async (calls) => {
      for (const RoleName of attachedTo) {
        await orNull(calls.iam.send(new DetachRolePolicyCommand({ RoleName, PolicyArn })));
      }
      for (const VersionId of versions) {
        await orNull(calls.iam.send(new DeletePolicyVersionCommand({ PolicyArn, VersionId })));
      }
      await calls.iam.send(new DeletePolicyCommand({ PolicyArn }));
    });
  }
  return removals;
}
