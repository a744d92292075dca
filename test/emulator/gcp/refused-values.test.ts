// Fields and values that Google's APIs do not have: each refused as its discovery documents and references specify. One emulator
// serves all: a refused request changes nothing.
import { afterAll, beforeAll, expect, it } from 'vitest';

import { bulkInsertBody } from '../../../providers/gcp/bulk-insert.ts';
import { ruleBody, subnetworkBody } from '../../../providers/gcp/setup/bodies.ts';
import { freshOwner, gcpSettings, placement, workersRequest } from '../../providers/gcp-cloud.ts';
import { controlPlaneToken } from './access.ts';
import { type GcpEmulator, startGcpEmulator } from './emulator.ts';

let emulator: GcpEmulator;
beforeAll(async () => {
  emulator = await startGcpEmulator();
});
afterAll(() => emulator.stop());

async function refused(method: string, path: string, body?: object): Promise<[number, string]> {
  const before = await emulator.project();
  const response = await fetch(`${emulator.url}${path}`, {
    method,
    headers: { authorization: `Bearer ${controlPlaneToken}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { error } = (await response.json()) as { error: { status: string; errors?: { reason: string }[] } };
  expect((await emulator.ledger()).existing).toEqual([]);
  expect(await emulator.project()).toEqual(before);
  return [response.status, error.errors?.[0]?.reason ?? error.status];
}

type Body = ReturnType<typeof bulkInsertBody>;
const right = (types = ['n2-standard-2']): Body => {
  const of = placement({ types });
  const request = workersRequest(freshOwner(), 1, undefined, of);
  return bulkInsertBody(gcpSettings, {
    request,
    role: 'worker',
    placement: of,
    zones: ['us-central1-a'],
    names: ['rw-new'],
  });
};
const of = (changes: object, types?: string[]): object => {
  const body = right(types);
  return { ...body, instanceProperties: { ...body.instanceProperties, ...changes } };
};
const disk = (changes: object): object => {
  const [{ initializeParams, ...rest } = {}] = right().instanceProperties?.disks ?? [];
  return of({ disks: [{ ...rest, initializeParams: { ...initializeParams, ...changes } }] });
};
/** For Hyperdisk. */
const fast = (changes: object): object => {
  const body = right(['c4-standard-2']);
  for (const each of body.instanceProperties?.disks ?? []) Object.assign(each.initializeParams ?? {}, changes);
  return body;
};
const hpc = (): object => {
  const body = right(['h4d-standard-192']);
  Object.assign(body.instanceProperties?.scheduling ?? {}, { onHostMaintenance: 'MIGRATE' });
  return body;
};
const ending = { onHostMaintenance: 'TERMINATE', automaticRestart: false };
const gpu = (acceleratorType: string, acceleratorCount: number): object =>
  of({ guestAccelerators: [{ acceleratorType, acceleratorCount }], scheduling: ending, machineType: 'n1-standard-4' });
const account = { email: gcpSettings.serviceAccount, scopes: ['https://www.googleapis.com/auth/cloud-platform'] };
const metadata = (...items: object[]): object => of({ metadata: { items } });
const zones = (...names: string[]): object => ({
  ...right(),
  locationPolicy: { locations: Object.fromEntries(names.map((name) => [name, { preference: 'ALLOW' }])) },
});
const secondBoot = (): object => {
  const body = right(['n2-standard-2', 'c4-standard-2']);
  const selections = body.instanceFlexibilityPolicy?.instanceSelections ?? {};
  for (const { disks } of Object.values(selections)) for (const each of disks ?? []) each.deviceName = 'other';
  return body;
};
const arm = 'projects/ubuntu-os-cloud/global/images/family/ubuntu-2404-lts-arm64';

it.each<[string, object]>([
  ['a field that it does not have', { ...right(), colour: 'red' }],
  ['a property that it does not have', of({ colour: 'red' })],
  ['an image of another architecture', disk({ sourceImage: arm })],
  ['a type of another architecture', of({ machineType: 't2a-standard-2' })],
  ['an unknown type of disk', disk({ diskType: 'pd-fast' })],
  ['a throughput that its IOPS do not give', fast({ provisionedThroughput: 1_000 })],
  ['600 IOPS for a GB', fast({ provisionedIops: 18_000 })],
  ['IOPS of a disk that has none of its own', disk({ provisionedIops: 3_000 })],
  ['H4D that shall migrate', hpc()],
  [
    'a machine type beside a flexibility policy',
    { ...right(['n2-standard-2', 'c4-standard-2']), instanceProperties: right().instanceProperties },
  ],
  ['a disk of 70,000 GB', disk({ diskSizeGb: 70_000 })],
  ['a zone of another region', zones('zones/europe-west4-a')],
  ['the bare name of a zone', zones('us-central1-a')],
  ['metadata of 600 KB', metadata(...['a', 'b', 'c'].map((key) => ({ key, value: 'x'.repeat(200_000) })))],
  ['a key of metadata with a space', metadata({ key: 'a b', value: 'x' })],
  ['a key of metadata twice', metadata({ key: 'a', value: 'x' }, { key: 'a', value: 'y' })],
  ['two service accounts', of({ serviceAccounts: [account, account] })],
  ['a scope that is none', of({ serviceAccounts: [{ ...account, scopes: ['everything'] }] })],
  [
    'two public addresses',
    of({ networkInterfaces: [{ accessConfigs: [{ type: 'ONE_TO_ONE_NAT' }, { type: 'ONE_TO_ONE_NAT' }] }] }),
  ],
  ['a GPU that cannot be attached', gpu('nvidia-l4', 1)],
  ['three T4', gpu('nvidia-tesla-t4', 3)],
  ['a type with a GPU that shall migrate', of({ machineType: 'g2-standard-4' })],
  ['E2 on demand that shall end with its host', of({ machineType: 'e2-standard-2', scheduling: ending })],
  ['selections with a second boot disk', secondBoot()],
  ['5,001 instances', { ...right(), count: 5_001 }],
])('bulkInsert with %s is invalid', async (_, body) => {
  const path = '/compute/v1/projects/test-project/regions/us-central1/instances/bulkInsert';
  expect(await refused('POST', path, body)).toEqual([400, 'invalid']);
});

it('bulkInsert with an image that does not exist says so', async () => {
  const path = '/compute/v1/projects/test-project/regions/us-central1/instances/bulkInsert';
  const body = disk({ sourceImage: 'projects/ubuntu-os-cloud/global/images/family/none' });
  expect(await refused('POST', path, body)).toEqual([404, 'notFound']);
});

const wanted = {
  ...{ project: 'test-project', deploymentId: 'dep_1', name: 'refused', regions: ['us-central1'] },
  ...{ clientRanges: null, bucket: null },
};
const network = 'projects/test-project/global/networks/ropewalk';
const rule = (changes: object): object => ({ ...ruleBody(wanted, 'scheduler', ['0.0.0.0/0']), network, ...changes });
const tcp = (...ports: string[]): object => rule({ allowed: [{ IPProtocol: 'tcp', ports }] });
const subnetwork = (cidr: string): object => ({ ...subnetworkBody(wanted, cidr), network });

it.each<[string, object]>([
  ['a range that is none', rule({ sourceRanges: ['banana'] })],
  ['an unknown protocol', rule({ allowed: [{ IPProtocol: 'xyz' }] })],
  ['port 70,000', tcp('70000')],
  ['ports that end before they begin', tcp('23-22')],
  ['ports of all protocols', rule({ allowed: [{ IPProtocol: 'all', ports: ['22'] }] })],
  ['a description of 2,049 characters', rule({ description: 'x'.repeat(2_049) })],
  ['71 target tags', rule({ targetTags: Array.from({ length: 71 }, (__, at) => `t${at}`) })],
  ['the network of another project', rule({ network: 'projects/other/global/networks/ropewalk' })],
  ['a field that it does not have', rule({ colour: 'red' })],
])('a firewall rule with %s is invalid', async (_, body) => {
  expect(await refused('POST', '/compute/v1/projects/test-project/global/firewalls', body)).toEqual([400, 'invalid']);
});

it('a subnetwork of four addresses is invalid', async () => {
  const path = '/compute/v1/projects/test-project/regions/us-central1/subnetworks';
  expect(await refused('POST', path, subnetwork('10.9.0.0/30'))).toEqual([400, 'invalid']);
});

const role = (changes: object): object => ({
  roleId: 'a_role',
  role: { title: 'A role', includedPermissions: ['compute.disks.list'], stage: 'GA', ...changes },
});
const accounts = 'serviceAccounts';
const itsPolicy = `${accounts}/${gcpSettings.serviceAccount}:getIamPolicy`;

it.each<[string, string, object | undefined]>([
  ['a body that the method does not have', itsPolicy, { options: { requestedPolicyVersion: 3 } }],
  ['an unknown parameter', `${itsPolicy}?optionsRequestedPolicyVersion=3`, undefined],
  [
    'a display name of 101 characters',
    accounts,
    { accountId: 'long-name', serviceAccount: { displayName: 'x'.repeat(101) } },
  ],
  [
    'a description of 257 characters',
    accounts,
    { accountId: 'long-text', serviceAccount: { description: 'x'.repeat(257) } },
  ],
  ['a field that it does not have', accounts, { accountId: 'red-account', colour: 'red' }],
  ['a title of 101 characters', 'roles', role({ title: 'x'.repeat(101) })],
  ['a description of 301 characters', 'roles', role({ description: 'x'.repeat(301) })],
  ['an unknown stage', 'roles', role({ stage: 'NOW' })],
  ['a field of a role that it does not have', 'roles', role({ id: 'a_role' })],
])('a call of IAM with %s is invalid', async (_, path, body) => {
  expect(await refused('POST', `/v1/projects/test-project/${path}`, body)).toEqual([400, 'INVALID_ARGUMENT']);
});

it('a member without its kind is invalid', async () => {
  const body = { policy: { bindings: [{ role: 'roles/iam.serviceAccountUser', members: ['someone'] }] } };
  expect(await refused('POST', '/v1/projects/test-project:setIamPolicy', body)).toEqual([400, 'INVALID_ARGUMENT']);
});
