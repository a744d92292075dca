// The emulated Compute Engine's answers, and the requests of the provider and setup, against the discovery document in which
// Google describes its API: every field exists and has the type and the values of the document.
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';

import { bulkInsertBody } from '../../../providers/gcp/bulk-insert.ts';
import { networkBody, ruleBody, subnetworkBody } from '../../../providers/gcp/setup/bodies.ts';
import { freshOwner, gcpSettings, placement, startGcpCloud, workersRequest } from '../../providers/gcp-cloud.ts';
import type { GcpTestCloud } from '../../providers/gcp-cloud.ts';
import { controlPlaneToken } from '../gcp/access.ts';
import { googlePython } from './python.ts';

interface Checked {
  what: string;
  schema: string;
  value: unknown;
}

async function problemsOf(checked: readonly Checked[]): Promise<string[]> {
  const script = fileURLToPath(new URL('discovery.py', import.meta.url));
  const child = spawn(await googlePython(), [script], { stdio: ['pipe', 'pipe', 'inherit'] });
  child.stdin.end(JSON.stringify(checked));
  return z.array(z.string()).parse(JSON.parse(await text(child.stdout)));
}

let cloud: GcpTestCloud;
beforeAll(async () => {
  cloud = await startGcpCloud();
});
afterAll(() => cloud.close());

async function call(method: string, path: string, body?: object): Promise<unknown> {
  const response = await fetch(`${cloud.emulator.url}/compute/v1/projects/test-project/${path}`, {
    method,
    headers: { authorization: `Bearer ${controlPlaneToken}` },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = await response.json();
  expect([path, response.status, JSON.stringify(answer)]).toEqual([path, 200, expect.any(String)]);
  return answer;
}

/** As the client sends it: 64-bit numbers as text. */
const asSent = (value: unknown): unknown =>
  JSON.parse(
    JSON.stringify(value, (key, each: unknown) =>
      typeof each === 'number' && /^(count|minCount|rank|diskSizeGb|seconds|provisioned(Iops|Throughput))$/.test(key)
        ? String(each)
        : each,
    ),
  );

const wanted = {
  ...{ project: 'test-project', deploymentId: 'dep_1', name: 'rope-test', regions: ['us-central1'] },
  ...{ clientRanges: null, bucket: null },
};

describe('by the discovery document of Compute Engine', () => {
  it('every answer of the emulator is one of Google’s', { timeout: 300_000 }, async () => {
    const answers: Checked[] = [];
    const answered = async (schema: string, method: string, path: string, body?: object): Promise<void> => {
      answers.push({ what: `${method} ${path}`, schema, value: await call(method, path, body) });
    };
    await answered('Operation', 'POST', 'global/networks', networkBody(wanted));
    await answered('Operation', 'POST', 'regions/us-central1/subnetworks', subnetworkBody(wanted, '10.9.0.0/20'));
    await answered('Operation', 'POST', 'global/firewalls', ruleBody(wanted, 'scheduler', ['0.0.0.0/0']));
    await answered('Network', 'GET', 'global/networks/rope-test');
    await answered('Firewall', 'GET', 'global/firewalls/rope-test-scheduler');
    await answered('FirewallList', 'GET', 'global/firewalls');
    await answered('SubnetworkAggregatedList', 'GET', 'aggregated/subnetworks');
    await answered('Region', 'GET', 'regions/us-central1');
    await answered('MachineTypeList', 'GET', 'zones/us-central1-a/machineTypes');

    const types = ['n2-standard-2', 'n2d-standard-2'];
    const spot = placement({ types, market: 'spot' });
    await cloud.emulator.send({ op: 'capacity', pool: 'n2-standard-2/us-central1-a/spot', instances: 1 });
    const request = workersRequest(freshOwner(), 2, undefined, spot);
    const { launched } = await cloud.provider.launch(request);
    const zones = ['b', 'c'].flatMap((letter) => types.map((type) => `${type}/us-central1-${letter}/spot`));
    for (const pool of [...zones, 'n2-standard-2/us-central1-a/spot', 'n2d-standard-2/us-central1-a/spot'])
      await cloud.emulator.send({ op: 'capacity', pool, instances: 0 });
    expect((await cloud.provider.launch(workersRequest(freshOwner(), 1, undefined, spot))).failures).toHaveLength(1);
    const [{ id, zone } = { id: '', zone: '' }] = launched;
    await cloud.emulator.plant({ kind: 'disk', name: 'left', labels: {} });
    await answered('Instance', 'GET', `zones/${zone}/instances/${id}`);
    await answered('InstanceAggregatedList', 'GET', 'aggregated/instances');
    await answered('DiskAggregatedList', 'GET', 'aggregated/disks');
    await answered('Operation', 'DELETE', `zones/${zone}/instances/${id}`);
    await answered('Operation', 'DELETE', 'zones/us-central1-a/disks/left');
    await answered('Operation', 'DELETE', 'global/firewalls/rope-test-scheduler');
    await answered('OperationAggregatedList', 'GET', 'aggregated/operations');
    expect(await problemsOf(answers)).toEqual([]);
  });

  it('every request of the provider and of setup is one of Google’s', { timeout: 300_000 }, async () => {
    const requests: Checked[] = [];
    const shapes = [
      placement({ types: ['n2-standard-2', 'c4-standard-2'], market: 'spot', diskThroughput: 300 }),
      placement({ types: ['n1-standard-4+nvidia-tesla-t4'] }),
    ];
    for (const of of shapes)
      for (const role of ['head', 'worker'] as const) {
        const request = workersRequest(freshOwner(), 2, undefined, of);
        const insert = { request, role, placement: of, zones: ['us-central1-a'], names: ['rw-a', 'rw-b'] };
        const settings = { ...gcpSettings, gpuImage: 'projects/test-project/global/images/gpu' };
        const value = asSent(bulkInsertBody(settings, insert));
        requests.push({ what: `bulkInsert ${of.types.join()} ${role}`, schema: 'BulkInsertInstanceResource', value });
      }
    requests.push(
      { what: 'network', schema: 'Network', value: networkBody(wanted) },
      { what: 'subnetwork', schema: 'Subnetwork', value: subnetworkBody(wanted, '10.0.0.0/20') },
      { what: 'cluster rule', schema: 'Firewall', value: ruleBody(wanted, 'cluster', []) },
      { what: 'scheduler rule', schema: 'Firewall', value: ruleBody(wanted, 'scheduler', ['0.0.0.0/0']) },
    );
    expect(await problemsOf(requests)).toEqual([]);
  });

  it('a wrong field, type or value is found', { timeout: 300_000 }, async () => {
    const value = { name: 1, status: 'HAPPY', color: 'red', networkInterfaces: [{ networkIP: true }] };
    expect(await problemsOf([{ what: 'it', schema: 'Instance', value }])).toEqual([
      'it.name: 1 is not of type string',
      expect.stringMatching(/^it\.status: HAPPY is none of /),
      'it has no field color',
      'it.networkInterfaces[0].networkIP: true is not of type string',
    ]);
  });
});
