// IAM policies of the project, of a service account and of a bucket. Each is read, changed and written as a whole with its
// etag, and Google refuses the write when the policy changed meanwhile; then it is read again. Bindings with conditions belong
// to others.
import { GoogleRefusal } from '../refusal.ts';
import { orNull, type Calls } from './calls.ts';
import { accountOf, type Binding, emailOf, type Wanted } from './wanted.ts';

interface Policy {
  version?: number;
  etag?: string;
  bindings?: { role: string; members?: string[]; condition?: object }[];
}

const maxConflicts = 10;

export const hasBinding = ({ bindings = [] }: Policy, { role, member }: Binding): boolean =>
  bindings.some((each) => each.role === role && each.condition === undefined && (each.members ?? []).includes(member));

export function withBinding(policy: Policy, { role, member }: Binding): Policy {
  const bindings = [...(policy.bindings ?? [])];
  const at = bindings.findIndex((each) => each.role === role && each.condition === undefined);
  const members = [...(bindings[at]?.members ?? []), member];
  if (at === -1) bindings.push({ role, members });
  else bindings[at] = { role, members };
  return { ...policy, bindings };
}

export function withoutBinding(policy: Policy, { role, member }: Binding): Policy {
  const bindings = (policy.bindings ?? []).flatMap((each) => {
    if (each.role !== role || each.condition !== undefined) return [each];
    const members = (each.members ?? []).filter((other) => other !== member);
    return members.length === 0 ? [] : [{ ...each, members }];
  });
  return { ...policy, bindings };
}

/** Null when the resource does not exist. */
export const readPolicy = (calls: Calls, wanted: Wanted, on: Binding['on']): Promise<Policy | null> => {
  const { project, bucket } = wanted;
  switch (on) {
    case 'project':
      return calls.send('cloudresourcemanager', 'POST', `/v1/projects/${project}:getIamPolicy`, {
        options: { requestedPolicyVersion: 3 },
      });
    case 'instance account':
    case 'control-plane account': {
      // This method has no body; its options are in the URL.
      const path = `${accountPath(wanted, on)}:getIamPolicy?options.requestedPolicyVersion=3`;
      return orNull(calls.send('iam', 'POST', path));
    }
    case 'bucket':
      return orNull(calls.send('storage', 'GET', `/storage/v1/b/${bucket}/iam?optionsRequestedPolicyVersion=3`));
  }
};

function writePolicy(calls: Calls, wanted: Wanted, on: Binding['on'], policy: Policy): Promise<unknown> {
  const { project, bucket } = wanted;
  switch (on) {
    case 'project':
      return calls.send('cloudresourcemanager', 'POST', `/v1/projects/${project}:setIamPolicy`, { policy });
    case 'instance account':
    case 'control-plane account':
      return calls.send('iam', 'POST', `${accountPath(wanted, on)}:setIamPolicy`, { policy });
    case 'bucket':
      return calls.send('storage', 'PUT', `/storage/v1/b/${bucket}/iam`, policy);
  }
}

const accountPath = (wanted: Wanted, on: Parameters<typeof accountOf>[0]): string =>
  `/v1/projects/${wanted.project}/serviceAccounts/${emailOf(wanted, accountOf(on))}`;

export async function changeBinding(
  calls: Calls,
  wanted: Wanted,
  binding: Binding,
  change: 'add' | 'remove',
): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    const policy = await readPolicy(calls, wanted, binding.on);
    if (policy === null && change === 'remove') return;
    if (hasBinding(policy ?? {}, binding) === (change === 'add')) return;
    const changed = (change === 'add' ? withBinding : withoutBinding)(policy ?? {}, binding);
    try {
      await writePolicy(calls, wanted, binding.on, changed);
      return;
    } catch (error) {
      const isConflict = error instanceof GoogleRefusal && (error.status === 409 || error.status === 412);
      if (!isConflict || attempt === maxConflicts) throw error;
    }
  }
}
