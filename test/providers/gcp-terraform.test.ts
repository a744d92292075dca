// The Terraform module of a project against setup: the file equals the generator's output, and setup finds nothing missing in a
// project that the module prepared. Terraform itself is not run: the values of its expressions are computed here.
import { readFile } from 'node:fs/promises';

import { describe, expect, it } from 'vitest';

import { bucketBody, networkBody, ruleBody, subnetworkBody } from '../../providers/gcp/setup/bodies.ts';
import { servicesOf } from '../../providers/gcp/setup/find.ts';
import { type Found, planProject } from '../../providers/gcp/setup/plan.ts';
import { readRoles, roleBody } from '../../providers/gcp/setup/roles.ts';
import { terraformModule } from '../../providers/gcp/setup/terraform.ts';
import {
  accountIdOf,
  bindingsOf,
  customRoles,
  emailOf,
  markOf,
  roleId,
  type Wanted,
} from '../../providers/gcp/setup/wanted.ts';
import { evaluated, type Made } from './terraform-values.ts';

const roles = await readRoles();
const permissions = {
  'control-plane': roles['control-plane'].includedPermissions,
  instance: roles.instance.includedPermissions,
  'object-store': roles['object-store'].includedPermissions,
};
const wanted: Wanted = {
  ...{ project: 'my-project', deploymentId: 'dep_1', name: 'rope-test', regions: ['us-central1', 'europe-west4'] },
  ...{ clientRanges: ['203.0.113.0/24'], bucket: 'my-bucket' },
};
const module = async (): Promise<unknown> =>
  JSON.parse(await readFile(new URL('../../ops/gcp/terraform/main.tf.json', import.meta.url), 'utf8'));
const madeBy = async (of: Wanted): Promise<Made> =>
  evaluated(await module(), {
    ...{ project: of.project, deployment_id: of.deploymentId, name: of.name, regions: of.regions },
    ...{ client_ranges: of.clientRanges, bucket: of.bucket },
  });

/** The project as setup would find it. */
function foundIn(made: Made, of: Wanted): Found {
  const named = (type: string, key: string, value: unknown) => made(type).find((each) => each[key] === value);
  const rule = (role: 'cluster' | 'scheduler') => {
    const found = named('google_compute_firewall', 'name', `${of.name}-${role}`);
    expect(found?.['description']).toBe(markOf(of));
    return { ranges: (found?.['source_ranges'] ?? []) as string[] };
  };
  const role = (each: (typeof customRoles)[number]) => {
    const found = named('google_project_iam_custom_role', 'role_id', roleId(of, each));
    return found === undefined ? null : { permissions: found['permissions'] as string[], isDeleted: false };
  };
  const bindings = [
    ...made('google_project_iam_member').map((each) => ({ on: 'project' as const, each })),
    ...made('google_service_account_iam_member').map((each) => ({
      on: String(each['service_account_id']).endsWith(`/${emailOf(of, 'instance')}`)
        ? ('instance account' as const)
        : ('control-plane account' as const),
      each,
    })),
    ...made('google_storage_bucket_iam_member').map((each) => ({ on: 'bucket' as const, each })),
  ].map(({ on, each }) => ({ on, role: String(each['role']), member: String(each['member']) }));
  expect(bindings).toHaveLength(bindingsOf(of).length);
  expect(bindings).toEqual(expect.arrayContaining(bindingsOf(of)));
  return {
    disabled: servicesOf(of).filter(
      (each) => named('google_project_service', 'service', `${each}.googleapis.com`) === undefined,
    ),
    regions: of.regions.map((region) => ({ region, zones: [] })),
    hasNetwork: named('google_compute_network', 'name', of.name) !== undefined,
    subnets: made('google_compute_subnetwork').map((each) => ({
      ...{ region: String(each['region']), cidr: String(each['ip_cidr_range']) },
    })),
    rules: { cluster: rule('cluster'), scheduler: rule('scheduler') },
    accounts: (['instance', 'control-plane'] as const).filter(
      (each) => named('google_service_account', 'account_id', accountIdOf(of, each)) !== undefined,
    ),
    roles: { 'control-plane': role('control-plane'), instance: role('instance'), 'object-store': role('object-store') },
    hasBucket: of.bucket !== null && named('google_storage_bucket', 'name', of.bucket) !== undefined,
    bindings,
  };
}

/** Every text, number and boolean in it, as text. */
const leaves = (value: unknown): string[] =>
  typeof value === 'object' && value !== null ? Object.values(value).flatMap(leaves) : [String(value)];

describe('the Terraform module of a project', () => {
  it('is what its generator writes', async () => {
    expect(await module()).toEqual(terraformModule(roles));
  });

  it.each([wanted, { ...wanted, bucket: null }, { ...wanted, name: 'ropewalk', regions: ['us-east1'] }])(
    'makes all that setup makes: of a project that it has prepared, setup keeps everything (%o)',
    async (of) => {
      const found = foundIn(await madeBy(of), of);
      const steps = planProject(found, of, permissions);
      expect(steps.filter(({ action }) => action !== 'keep')).toEqual([]);
      expect(steps.length).toBeGreaterThan(10);
      expect(found.subnets.map(({ cidr }) => cidr)).toEqual(['10.0.0.0/20', '10.1.0.0/20'].slice(0, of.regions.length));
    },
  );

  it('gives each thing every value that setup sends', async () => {
    const made = await madeBy(wanted);
    const sent: [type: string, body: object][] = [
      ['google_compute_network', networkBody(wanted)],
      ['google_compute_subnetwork', subnetworkBody(wanted, '10.1.0.0/20')],
      ['google_compute_firewall', ruleBody(wanted, 'cluster', [])],
      ['google_compute_firewall', ruleBody(wanted, 'scheduler', wanted.clientRanges ?? [])],
      ['google_storage_bucket', bucketBody(wanted)],
      ...customRoles.map((role): [string, object] => ['google_project_iam_custom_role', roleBody(roles[role], wanted)]),
    ];
    for (const [type, body] of sent) {
      const values = leaves(body);
      const missing = made(type).map((each) => values.filter((value) => !leaves(each).includes(value)));
      expect(missing, `${type} ${JSON.stringify(body)}`).toContainEqual([]);
    }
  });
});
