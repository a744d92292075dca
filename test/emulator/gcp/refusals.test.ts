// Wrong requests that a fake project might accept, each refused as Google refuses it: with its status, its reason, and the form
// of its error body. One emulator serves all: a refused request changes nothing.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { bulkInsertBody } from '../../../providers/gcp/bulk-insert.ts';
import { ruleBody, subnetworkBody } from '../../../providers/gcp/setup/bodies.ts';
import { freshOwner, gcpSettings, placement, workersRequest } from '../../providers/gcp-cloud.ts';
import { controlPlaneToken } from './access.ts';
import { type GcpEmulator, startGcpEmulator } from './emulator.ts';

let emulator: GcpEmulator;
beforeAll(async () => {
  emulator = await startGcpEmulator();
  await emulator.plant({ kind: 'instance', name: 'taken' });
  await emulator.plant({ kind: 'firewall rule', name: 'taken' });
});
afterAll(() => emulator.stop());

interface Refusal {
  error: { code: number; message: string; errors: { reason: string; domain: string; message: string }[] };
}

async function refused(
  method: string,
  path: string,
  body?: object,
  token = controlPlaneToken,
): Promise<[number, string]> {
  const before = await emulator.project();
  const response = await fetch(`${emulator.url}/compute/v1/projects/${path}`, {
    method,
    headers: token === '' ? {} : { authorization: `Bearer ${token}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const { error } = (await response.json()) as Refusal;
  const [first] = error.errors;
  expect([error.code, first?.message]).toEqual([response.status, error.message]);
  expect((await emulator.ledger()).existing).toEqual(['taken']);
  expect(await emulator.project()).toEqual(before);
  return [response.status, first?.reason ?? ''];
}

type Body = ReturnType<typeof bulkInsertBody>;
const region = 'test-project/regions/us-central1';
const right = (types = ['n2-standard-2']): Body => {
  const of = placement({ types });
  const request = workersRequest(freshOwner(), 1, undefined, of);
  const zones = ['us-central1-a'];
  return bulkInsertBody(gcpSettings, { request, role: 'worker', placement: of, zones, names: ['rw-new'] });
};
const properties = (changes: object): object => ({
  ...right(),
  instanceProperties: { ...right().instanceProperties, ...changes },
});
const scheduling = (changes: object): object =>
  properties({ scheduling: { ...right().instanceProperties?.scheduling, ...changes } });
const disks = (changes: object): object => {
  const [disk] = right().instanceProperties?.disks ?? [];
  return properties({ disks: [{ ...disk, initializeParams: { ...disk?.initializeParams, ...changes } }] });
};
const manyLabels = Object.fromEntries(Array.from({ length: 65 }, (_, at) => [`label-${at}`, 'x']));

describe('bulkInsert', () => {
  it.each<[string, object]>([
    ['more instances than names', { ...right(), count: 2 }],
    ['a minCount of more than count', { ...right(), minCount: 2 }],
    ['a minCount of none', { ...right(), minCount: 0 }],
    ['a name with capitals', { ...right(), perInstanceProperties: { 'RW-NEW': {} } }],
    ['a label key with a colon', properties({ labels: { 'ropewalk:deployment': 'd' } })],
    ['a label value with capitals', properties({ labels: { owner: 'Someone' } })],
    ['65 labels', properties({ labels: manyLabels })],
    ['a network tag with an underscore', properties({ tags: { items: ['a_tag'] } })],
    ['metadata of 300 kB', properties({ metadata: { items: [{ key: 'big', value: 'x'.repeat(300_000) }] } })],
    ['a machine type that does not exist', properties({ machineType: 'n9-standard-2' })],
    ['a disk of 5 GB', disks({ diskSizeGb: 5 })],
    ['a persistent disk for a type with Hyperdisk alone', properties({ machineType: 'c4-standard-2' })],
    ['Hyperdisk for a type without', disks({ diskType: 'hyperdisk-balanced' })],
    ['the URL of a disk type', disks({ diskType: 'zones/us-central1-a/diskTypes/pd-balanced' })],
    ['spot with live migration', scheduling({ provisioningModel: 'SPOT', onHostMaintenance: 'MIGRATE' })],
    [
      'spot with a restart',
      scheduling({ provisioningModel: 'SPOT', onHostMaintenance: 'TERMINATE', automaticRestart: true }),
    ],
    ['an end of life without what happens then', scheduling({ instanceTerminationAction: undefined })],
    ['a life of 121 days', scheduling({ maxRunDuration: { seconds: 121 * 86_400 } })],
    [
      'a GPU with live migration',
      properties({ guestAccelerators: [{ acceleratorType: 'nvidia-tesla-t4', acceleratorCount: 1 }] }),
    ],
    [
      'a service account that does not exist',
      properties({ serviceAccounts: [{ email: 'none@test-project.iam.gserviceaccount.com', scopes: ['x'] }] }),
    ],
    [
      'a subnetwork that does not exist',
      properties({ networkInterfaces: [{ subnetwork: 'projects/test-project/regions/us-central1/subnetworks/none' }] }),
    ],
    [
      'a subnetwork of another region',
      properties({
        networkInterfaces: [{ subnetwork: 'projects/test-project/regions/europe-west4/subnetworks/ropewalk' }],
      }),
    ],
  ])('with %s is invalid', async (_, body) => {
    expect(await refused('POST', `${region}/instances/bulkInsert`, body)).toEqual([400, 'invalid']);
  });

  it('with the URL of a machine type fails inside, as SkyPilot saw it at Google', async () => {
    const body = properties({ machineType: 'zones/us-central1-a/machineTypes/n2-standard-2' });
    expect(await refused('POST', `${region}/instances/bulkInsert`, body)).toEqual([503, 'backendError']);
  });

  it('with a request id that is no UUID, or nothing but zeros, is invalid', async () => {
    for (const id of ['launch-1', '00000000-0000-0000-0000-000000000000'])
      expect(await refused('POST', `${region}/instances/bulkInsert?requestId=${id}`, right())).toEqual([
        400,
        'invalid',
      ]);
  });

  it('with a name that is taken says so', async () => {
    const body = { ...right(), perInstanceProperties: { taken: {} } };
    expect(await refused('POST', `${region}/instances/bulkInsert`, body)).toEqual([409, 'alreadyExists']);
  });
});

const wanted = {
  ...{ project: 'test-project', deploymentId: 'dep_1', name: 'ropewalk', regions: ['us-central1'] },
  ...{ clientRanges: null, bucket: null },
};
const rule = (changes: object): object => ({ ...ruleBody(wanted, 'scheduler', ['0.0.0.0/0']), ...changes });

describe('other calls', () => {
  it.each<[string, string, string, object | undefined, [number, string]]>([
    ['a firewall rule that exists', 'POST', 'global/firewalls', rule({ name: 'taken' }), [409, 'alreadyExists']],
    ['a rule from nowhere', 'POST', 'global/firewalls', rule({ sourceRanges: [] }), [400, 'invalid']],
    [
      'a rule of both IP versions',
      'POST',
      'global/firewalls',
      rule({ sourceRanges: ['0.0.0.0/0', '::/0'] }),
      [400, 'invalid'],
    ],
    ['a rule that allows nothing', 'POST', 'global/firewalls', rule({ allowed: [] }), [400, 'invalid']],
    ['a rule of no network', 'POST', 'global/firewalls', rule({ network: 'global/networks/none' }), [404, 'notFound']],
    [
      'a range that is taken',
      'POST',
      'regions/us-central1/subnetworks',
      { ...subnetworkBody(wanted, '10.128.0.0/20'), name: 'other' },
      [400, 'invalid'],
    ],
    [
      'a range within one that is taken',
      'POST',
      'regions/us-central1/subnetworks',
      { ...subnetworkBody(wanted, '10.128.8.0/24'), name: 'other' },
      [400, 'invalid'],
    ],
    [
      'a subnetwork that instances use',
      'DELETE',
      'regions/us-central1/subnetworks/ropewalk',
      undefined,
      [400, 'resourceInUseByAnotherResource'],
    ],
    [
      'the disk of an instance',
      'DELETE',
      'zones/us-central1-a/disks/taken',
      undefined,
      [400, 'resourceInUseByAnotherResource'],
    ],
    ['an instance that does not exist', 'DELETE', 'zones/us-central1-a/instances/none', undefined, [404, 'notFound']],
    ['an instance in another zone', 'DELETE', 'zones/us-central1-b/instances/taken', undefined, [404, 'notFound']],
    ['a firewall rule that does not exist', 'DELETE', 'global/firewalls/none', undefined, [404, 'notFound']],
    ['a disk that does not exist', 'DELETE', 'zones/us-central1-a/disks/none', undefined, [404, 'notFound']],
    [
      'an operation that does not exist',
      'POST',
      'zones/us-central1-a/operations/none/wait',
      undefined,
      [404, 'notFound'],
    ],
    ['a region that does not exist', 'GET', 'regions/mars-north1', undefined, [404, 'notFound']],
    ['pages of 501', 'GET', 'aggregated/instances?maxResults=501', undefined, [400, 'invalid']],
    ['a filter without an operator', 'GET', 'aggregated/instances?filter=name', undefined, [400, 'invalid']],
    [
      'a filter of two kinds',
      'GET',
      `aggregated/operations?filter=${encodeURIComponent('(name eq a) AND (zone = "b")')}`,
      undefined,
      [400, 'invalid'],
    ],
    ['a method that does not exist', 'PUT', 'global/firewalls/taken', undefined, [404, 'notFound']],
  ])('%s: refused', async (_, method, path, body, refusal) => {
    expect(await refused(method, `test-project/${path}`, body)).toEqual(refusal);
  });

  it('of a network that is used is accepted, and its operation fails', async () => {
    const response = await fetch(`${emulator.url}/compute/v1/projects/test-project/global/networks/ropewalk`, {
      method: 'DELETE',
      headers: { authorization: `Bearer ${controlPlaneToken}` },
    });
    expect([response.status, await response.json()]).toMatchObject([
      200,
      { error: { errors: [{ code: 'RESOURCE_IN_USE_BY_ANOTHER_RESOURCE' }] }, httpErrorStatusCode: 400 },
    ]);
    expect((await emulator.project()).networks.map(({ name }) => name)).toContain('ropewalk');
  });

  it('without credentials, with credentials that were revoked, and of another project: refused', async () => {
    expect(await refused('GET', 'test-project/aggregated/instances', undefined, '')).toEqual([401, 'required']);
    await emulator.send({ op: 'permit', token: 'old', permissions: 'revoked' });
    expect(await refused('GET', 'test-project/aggregated/instances', undefined, 'old')).toEqual([401, 'authError']);
    await emulator.send({ op: 'permit', token: 'reader', permissions: ['compute.instances.list'] });
    expect(await refused('DELETE', 'test-project/zones/us-central1-a/instances/taken', undefined, 'reader')).toEqual([
      403,
      'forbidden',
    ]);
    expect(await refused('GET', 'other-project/aggregated/instances')).toEqual([403, 'forbidden']);
  });

  it('the 1,501st call of a minute in its group: refused with 403, and other groups go on', async () => {
    await emulator.send({ op: 'throttle', on: true });
    const list = () => refused('GET', 'test-project/aggregated/instances?maxResults=501');
    // A minute may begin in between.
    const answers: string[] = [];
    while (answers.length < 3_100 && answers.at(-1) !== 'rateLimitExceeded') {
      const some = await Promise.all(Array.from({ length: 50 }, list));
      answers.push(...some.map(([status, reason]) => (status === 403 ? reason : String(status))));
    }
    expect(answers.filter((each) => each === '400').length).toBeGreaterThanOrEqual(1_500);
    expect(answers.at(-1)).toBe('rateLimitExceeded');
    expect(await refused('GET', 'test-project/regions/mars-north1')).toEqual([404, 'notFound']);
    await emulator.send({ op: 'throttle', on: false });
  });
});
