// Managed policies of the emulated IAM, and the common parts of all its operations.
import { AwsError } from './aws-error.ts';
import type { Params } from './params.ts';
import type { EmulatedAccount } from './account.ts';
import type { Xml } from './xml.ts';

export interface Role {
  name: string;
  trust: string;
  inline: Map<string, string>;
  attached: Set<string>;
  tags: Record<string, string>;
  path: string;
}

export interface Profile {
  name: string;
  role: string | null;
  tags: Record<string, string>;
  knownFromMs: number;
}

interface Policy {
  name: string;
  /** `v1` -> document. */
  versions: Map<string, string>;
  made: number;
  current: string;
  tags: Record<string, string>;
}

export interface Iam {
  roles: Map<string, Role>;
  profiles: Map<string, Profile>;
  /** By ARN. */
  policies: Map<string, Policy>;
}

export const createIam = (): Iam => ({ roles: new Map(), profiles: new Map(), policies: new Map() });

const maxVersions = 5;
const maxPolicyCharacters = 6_144;
export const maxInlineCharacters = 10_240;

export interface IamCall {
  account: EmulatedAccount;
  iam: Iam;
  params: Params;
}

export type Answer = { [name: string]: Xml } | null;

export const policyOperations: Record<string, (call: IamCall) => Answer> = {
  CreatePolicy: (call) => {
    const name = nameIn(call, 'PolicyName');
    const arn = `arn:aws:iam::${call.account.accountId}:policy/${name}`;
    if (call.iam.policies.has(arn)) throw exists('A policy called', name);
    const text = document(call, 'PolicyDocument', maxPolicyCharacters);
    const policy: Policy = { name, versions: new Map([['v1', text]]), made: 1, current: 'v1', tags: tagsIn(call) };
    call.iam.policies.set(arn, policy);
    return { Policy: shownPolicy(call, arn, policy) };
  },
  GetPolicy: (call) => ({ Policy: shownPolicy(call, call.params.text('PolicyArn') ?? '', policyOf(call)) }),
  GetPolicyVersion: (call) => {
    const id = call.params.text('VersionId') ?? '';
    const text = policyOf(call).versions.get(id);
    if (text === undefined) throw missing(`Policy version ${id} does not exist.`);
    return { PolicyVersion: { Document: encodeURIComponent(text), VersionId: id } };
  },
  ListPolicyVersions: (call) => {
    const { versions, current } = policyOf(call);
    const shown = [...versions.keys()].map((id) => ({ VersionId: id, IsDefaultVersion: id === current }));
    return { Versions: shown.toReversed(), IsTruncated: false };
  },
  CreatePolicyVersion: (call) => {
    const policy = policyOf(call);
    if (policy.versions.size >= maxVersions) {
      throw new AwsError(
        'LimitExceeded',
        'A managed policy can have up to 5 versions. Before you create a new version, you must delete an existing version.',
        409,
      );
    }
    policy.made += 1;
    const id = `v${policy.made}`;
    policy.versions.set(id, document(call, 'PolicyDocument', maxPolicyCharacters));
    if (call.params.text('SetAsDefault') === 'true') policy.current = id;
    return { PolicyVersion: { VersionId: id, IsDefaultVersion: policy.current === id } };
  },
  DeletePolicyVersion: (call) => {
    const [policy, id] = [policyOf(call), call.params.text('VersionId') ?? ''];
    if (id === policy.current) throw conflict('Cannot delete the default version of a policy.');
    if (!policy.versions.delete(id)) throw missing(`Policy version ${id} does not exist.`);
    return null;
  },
  DeletePolicy: (call) => {
    const [policy, arn] = [policyOf(call), call.params.text('PolicyArn') ?? ''];
    if (policy.versions.size > 1) {
      throw conflict(
        "This policy has more than one version. Before you delete a policy, you must delete the policy's versions.",
      );
    }
    if (isAttached(call, arn)) throw conflict('Cannot delete a policy attached to entities.');
    call.iam.policies.delete(arn);
    return null;
  },
  ListEntitiesForPolicy: (call) => {
    const arn = call.params.text('PolicyArn') ?? '';
    policyOf(call);
    const roles = [...call.iam.roles.values()].filter(({ attached }) => attached.has(arn));
    return {
      ...{ PolicyGroups: [], PolicyUsers: [], IsTruncated: false },
      PolicyRoles: roles.map(({ name }) => ({ RoleName: name, RoleId: `AROA${name}` })),
    };
  },
};

export function nameIn({ params }: IamCall, parameter: string): string {
  const name = params.text(parameter) ?? '';
  const limit = parameter === 'RoleName' ? 64 : 128;
  if (/^[\w+=,.@-]+$/.test(name) && name.length <= limit) return name;
  throw new AwsError(
    'ValidationError',
    `The specified value for ${parameter[0]?.toLowerCase()}${parameter.slice(1)} is invalid.`,
  );
}

export function document({ params }: IamCall, parameter: string, limit: number): string {
  const text = params.text(parameter) ?? '';
  try {
    JSON.parse(text);
  } catch {
    throw new AwsError('MalformedPolicyDocument', 'Syntax errors in policy.');
  }
  if (text.replaceAll(/\s/g, '').length <= limit) return text;
  throw new AwsError('LimitExceeded', `Cannot exceed quota for PolicySize: ${limit}`, 409);
}

export function tagsIn({ params }: IamCall): Record<string, string> {
  const given = params.items('Tags.member');
  if (given.length > 50) throw new AwsError('LimitExceeded', 'Cannot exceed quota for TagsPerResource: 50', 409);
  return Object.fromEntries(given.map((tag) => [tag.text('Key') ?? '', tag.text('Value') ?? '']));
}

export function policyOf({ iam, params }: IamCall): Policy {
  const arn = params.text('PolicyArn') ?? '';
  const found = iam.policies.get(arn);
  if (found === undefined) throw missing(`Policy ${arn} was not found.`);
  return found;
}

const isAttached = ({ iam }: IamCall, arn: string): boolean =>
  [...iam.roles.values()].some(({ attached }) => attached.has(arn));
export const missing = (message: string): AwsError => new AwsError('NoSuchEntity', message, 404);
export const conflict = (message: string): AwsError => new AwsError('DeleteConflict', message, 409);
export const exists = (what: string, name: string): AwsError =>
  new AwsError('EntityAlreadyExists', `${what} ${name} already exists.`, 409);

export const since = '2026-01-01T00:00:00Z';
export const shownTags = (tags: Record<string, string>): Xml =>
  Object.entries(tags).map(([Key, Value]) => ({ Key, Value }));

const shownPolicy = (call: IamCall, arn: string, { name, current, tags }: Policy): Xml => ({
  ...{ PolicyName: name, PolicyId: `ANPA${name}`, Arn: arn, Path: '/', DefaultVersionId: current, CreateDate: since },
  AttachmentCount: isAttached(call, arn) ? 1 : 0,
  Tags: shownTags(tags),
});
