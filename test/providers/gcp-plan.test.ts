// The decisions of `ropewalk setup gcp`: from a project's resources, and for grants beside those of others.
import { describe, expect, it } from 'vitest';

import { credentialsProblem } from '../../providers/gcp/setup/calls.ts';
import { type Found, planProject } from '../../providers/gcp/setup/plan.ts';
import { hasBinding, withBinding, withoutBinding } from '../../providers/gcp/setup/policy.ts';
import { bindingsOf, checkWanted, emailOf, roleId, tagName, type Wanted } from '../../providers/gcp/setup/wanted.ts';

const wanted: Wanted = {
  ...{ project: 'my-project', deploymentId: 'dep_1', name: 'ropewalk', regions: ['us-central1', 'europe-west4'] },
  ...{ clientRanges: null, bucket: 'my-bucket' },
};
const permissions = { 'control-plane': ['a.b.c', 'd.e.f'], instance: ['g.h.i'], 'object-store': ['j.k.l'] };
const empty: Found = {
  ...{ disabled: [], regions: [], hasNetwork: false, subnets: [], rules: { cluster: null, scheduler: null } },
  ...{ accounts: [], roles: { 'control-plane': null, instance: null, 'object-store': null } },
  ...{ hasBucket: false, bindings: [] },
};
const complete: Found = {
  ...{ disabled: [], regions: [], hasNetwork: true, accounts: ['instance', 'control-plane'] },
  subnets: [
    { region: 'us-central1', cidr: '10.0.0.0/20' },
    { region: 'europe-west4', cidr: '10.1.0.0/20' },
  ],
  rules: { cluster: { ranges: [] }, scheduler: { ranges: ['203.0.113.0/24'] } },
  roles: {
    'control-plane': { permissions: ['d.e.f', 'a.b.c'], isDeleted: false },
    instance: { permissions: ['g.h.i'], isDeleted: false },
    'object-store': { permissions: ['j.k.l'], isDeleted: false },
  },
  ...{ hasBucket: true, bindings: bindingsOf(wanted) },
};
const changesOf = (found: Found, of: Partial<Wanted> = {}): string[] =>
  planProject(found, { ...wanted, ...of }, permissions).flatMap(({ change, region }) =>
    change === null ? [] : [`${change.do}${region === null ? '' : ` ${region}`}`],
  );

describe('the plan of a project', () => {
  it('makes what others need first, and nothing twice', () => {
    expect(changesOf({ ...empty, disabled: ['compute'] })).toEqual([
      ...['enable', 'createNetwork', 'createSubnetwork us-central1', 'createSubnetwork europe-west4'],
      ...['createRule', 'createRule', 'createAccount', 'createAccount', 'createRole', 'createRole', 'createRole'],
      ...['createBucket', 'bind', 'bind', 'bind', 'bind', 'bind'],
    ]);
    expect(changesOf(complete)).toEqual([]);
    expect(changesOf(complete, { bucket: null })).toEqual([]);
  });

  it('gives a new region a range that no other region has', () => {
    const [step] = planProject(complete, { ...wanted, regions: ['asia-east1'] }, permissions).filter(
      ({ change }) => change !== null,
    );
    expect(step).toMatchObject({ action: 'create', region: 'asia-east1', detail: '10.2.0.0/20' });
  });

  it('changes who may connect only when it is said, and roles that differ from their file', () => {
    expect(changesOf(complete, { clientRanges: ['203.0.113.0/24'] })).toEqual([]);
    expect(changesOf(complete, { clientRanges: ['198.51.100.0/24'] })).toEqual(['changeRule']);
    const role = (permissions: string[], isDeleted: boolean): Found => ({
      ...complete,
      roles: { ...complete.roles, 'control-plane': { permissions, isDeleted } },
    });
    expect(changesOf(role(['a.b.c'], false))).toEqual(['updateRole']);
    expect(changesOf(role(['a.b.c', 'd.e.f'], true))).toEqual(['restoreRole']);
    expect(changesOf(role(['a.b.c'], true))).toEqual(['restoreRole', 'updateRole']);
  });

  it('names what it makes as Google allows', () => {
    expect(roleId({ name: 'rope-a' }, 'control-plane')).toBe('rope_a_control_plane');
    expect(emailOf(wanted, 'control-plane')).toBe('ropewalk-control-plane@my-project.iam.gserviceaccount.com');
    expect([tagName(wanted, 'cluster'), tagName(wanted, 'scheduler')]).toEqual(['ropewalk', 'ropewalk-scheduler']);
    expect(() => checkWanted(wanted)).not.toThrow();
    for (const [field, value] of [
      ['project', 'My Project'],
      ['name', 'rope'],
      ['name', 'a-name-that-is-too-long'],
      ['bucket', 'a'],
    ])
      expect(() => checkWanted({ ...wanted, [field ?? '']: value })).toThrow(String(value));
  });
});

describe('a grant', () => {
  const [binding = { on: 'project', role: '', member: '' }] = bindingsOf(wanted);
  const others = {
    ...{ etag: 'e1', version: 3 },
    bindings: [
      { role: binding.role, members: [binding.member], condition: { title: 'of others' } },
      { role: binding.role, members: ['user:a@example.com'] },
      { role: 'roles/owner', members: [binding.member] },
    ],
  };

  it('is added and removed beside those of others, with the etag of what was read', () => {
    expect(hasBinding(others, binding)).toBe(false);
    const added = withBinding(others, binding);
    expect([hasBinding(added, binding), added.etag, added.version]).toEqual([true, 'e1', 3]);
    expect(withoutBinding(added, binding)).toEqual(others);
    expect(withoutBinding(withBinding({}, binding), binding)).toEqual({ bindings: [] });
  });
});

describe('a refusal of credentials', () => {
  it.each([
    [
      '{"error":"invalid_grant","error_description":"Bad Request"}',
      /^Your credentials .* have expired or were revoked/,
    ],
    [
      '{"error":"invalid_grant","error_description":"reauth related error (invalid_rapt)","error_subtype":"invalid_rapt"}',
      /^Your credentials .* have expired or were revoked/,
    ],
    ['invalid_grant: Invalid JWT Signature.', /^There are no credentials .*Invalid JWT Signature/],
    ['Could not load the default credentials.', /^There are no credentials/],
  ])('%s', (said, message) => {
    const { problem } = credentialsProblem(new Error(said));
    expect(problem).toMatchObject({ code: 'UNAVAILABLE', message: expect.stringMatching(message) });
    expect(problem.hint).toContain('gcloud auth application-default login');
  });
});
