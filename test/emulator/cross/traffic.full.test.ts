// Every call of setup, the provider, the object store and an agent to Google's APIs, and every answer of the emulated project,
// against the discovery documents in which Google describes these APIs: methods, parameters, fields, types and values.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';

import { createLogsApi } from '../../../agent/gcp/logs-api.ts';
import { createGcsClient } from '../../../platform/objects/gcs-client.ts';
import { createGcsObjects } from '../../../platform/objects/gcs.ts';
import { createGcpProvider } from '../../../providers/gcp/provider.ts';
import { credentialsOf, freshOwner, gcpSettings, placement, workersRequest } from '../../providers/gcp-cloud.ts';
import { prepareSetup } from '../../providers/gcp-setup-run.ts';
import { type GcpEmulator, startGcpEmulator } from '../gcp/emulator.ts';
import { googlePython } from './python.ts';

const found = z.object({ called: z.array(z.string()), problems: z.array(z.string()) });
let directory: string;
let emulator: GcpEmulator;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ropewalk-traffic-'));
  emulator = await startGcpEmulator({ traffic: join(directory, 'traffic') });
  Object.assign(process.env, credentialsOf(emulator));
});
afterAll(async () => {
  await emulator.stop();
  await rm(directory, { recursive: true, force: true });
});

async function prepareAndRemove(): Promise<void> {
  const runner = await prepareSetup(emulator);
  const { setup, quotas } = runner;
  try {
    await emulator.send({ op: 'disable', services: ['logging'] });
    for (const changes of [{}, { clientRanges: ['203.0.113.0/24'] }, { remove: true }, {}, { remove: true }])
      expect((await setup(changes)).err).not.toContain('Google answered');
    await emulator.send({ op: 'weakenRole', id: 'rope_test_instance' });
    expect([(await setup()).code, (await setup({ remove: true })).code]).toEqual([0, 0]);
    expect((await quotas(null)).code).toBe(0);
  } finally {
    await runner.close();
  }
}

async function launchAndRead(): Promise<void> {
  const access = { endpoint: emulator.url, loggingEndpoint: emulator.url };
  const provider = createGcpProvider({ settings: gcpSettings, access, unseenMs: 1_000 });
  expect(await provider.offers({})).not.toEqual([]);
  const owner = freshOwner();
  const types = ['n2-standard-2', 'c4-standard-2'];
  const ingress = { scheduler: { port: 8786, from: ['203.0.113.0/24'] }, ssh: null };
  const request = workersRequest(owner, 2, undefined, placement({ types, market: 'spot' }));
  const head = { slot: 3, generation: 1, role: 'head' as const };
  const { launched } = await provider.launch({
    ...{ ...request, slots: [...request.slots, head] },
    placement: { head: placement(), worker: placement({ types, market: 'spot' }), oneZone: true, ingress },
  });
  expect(launched).toHaveLength(3);
  const ids = launched.map(({ id }) => id);
  const [name = ''] = ids;
  const boot = { apiUrl: 'https://ropewalk.example', launchToken: 'token', owner };
  const place = { name, numericId: '1', zone: 'us-central1-a', project: 'test-project' };
  const logs = createLogsApi({
    endpoint: emulator.url,
    instance: { ...place, boot: boot as never },
    token: { get: async () => `emulated-${name}`, forget: () => {} },
  });
  const message = JSON.stringify({ n: 1, k: null, a: null, s: 'agent', x: 'hello' });
  expect(await logs.put([{ timestamp: Date.now(), message }])).toEqual({ kind: 'taken' });
  const lines: string[] = [];
  for await (const { text } of provider.logs({ owner })) lines.push(text);
  expect(lines).toEqual(['hello']);
  await emulator.plant({ kind: 'disk', name: 'left', labels: { 'ropewalk-deployment': owner.deploymentId } });
  await provider.describe(owner, ids);
  await provider.list(owner.deploymentId);
  await provider.terminate(owner, ids, AbortSignal.timeout(60_000));
  await provider.describe(owner, ids);
  await provider.listResources?.(owner.deploymentId);
  await provider.release?.(owner, AbortSignal.timeout(60_000));
}

async function storeAndRead(): Promise<void> {
  await emulator.send({ op: 'bucket', name: 'ropewalk-test' });
  const location = { kind: 'gs' as const, bucket: 'ropewalk-test', prefix: '', endpoint: emulator.url, signing: null };
  const objects = createGcsObjects(location, createGcsClient(location, { accessToken: async () => 'emulated-store' }));
  const bytes = new TextEncoder().encode('hello');
  await objects.put('specs/a', bytes);
  expect(await objects.get('specs/a')).toEqual(bytes);
  expect(await objects.get('specs/b')).toBeNull();
  expect(await objects.list('specs', { limit: 10 })).toEqual(['specs/a']);
  await objects.delete('specs/a');
}

async function compared(file: string): Promise<z.infer<typeof found>> {
  const script = join(import.meta.dirname, 'traffic.py');
  const { stdout } = await promisify(execFile)(await googlePython(), [script, join(directory, file)]);
  return found.parse(JSON.parse(stdout));
}

it('has nothing that Google does not describe', { timeout: 600_000 }, async () => {
  await prepareAndRemove();
  await launchAndRead();
  await storeAndRead();
  const { called, problems } = await compared('traffic');
  expect(problems).toEqual([]);
  expect(called).toEqual(
    expect.arrayContaining([
      ...['compute.regionInstances.bulkInsert', 'compute.instances.delete', 'compute.firewalls.patch'],
      ...['compute.globalOperations.aggregatedList', 'compute.machineTypes.list', 'compute.disks.aggregatedList'],
      ...['iam.projects.serviceAccounts.getIamPolicy', 'iam.projects.roles.patch', 'iam.projects.roles.undelete'],
      ...['serviceusage.services.batchGet', 'serviceusage.services.enable', 'serviceusage.operations.get'],
      ...['cloudresourcemanager.projects.setIamPolicy', 'storage.buckets.insert', 'storage.buckets.setIamPolicy'],
      ...['storage.objects.insert', 'storage.objects.get', 'storage.objects.list', 'storage.objects.delete'],
      ...['logging.entries.write', 'logging.entries.list'],
    ]),
  );
  expect(called.length).toBeGreaterThanOrEqual(44);
});

it('finds a method, a parameter, a body and a field that Google does not describe', { timeout: 600_000 }, async () => {
  const call = (method: string, url: string, body: object | null, answer: object | null = null): string =>
    JSON.stringify({
      ...{ method, url, contentType: 'application/json', status: 200, answer },
      body: body === null ? '' : JSON.stringify(body),
    });
  const account = '/v1/projects/p/serviceAccounts/a@b';
  const calls = [
    call('POST', '/v1/projects/p/painters', {}),
    call('POST', `${account}:getIamPolicy?colour=red`, { options: { requestedPolicyVersion: 3 } }),
    call('POST', '/v1/projects/p/roles', { roleId: 1, role: { stage: 'NOW' } }, { id: 'r' }),
    call('POST', '/storage/v1/b', { name: 'b' }),
  ];
  await writeFile(join(directory, 'wrong'), calls.join('\n'));
  expect((await compared('wrong')).problems).toEqual([
    'iam.projects.roles.create, answer has no field id',
    'iam.projects.roles.create, request.role.stage: NOW is none of its values',
    'iam.projects.roles.create, request.roleId is not of type string',
    'iam.projects.serviceAccounts.getIamPolicy has no parameter colour',
    'iam.projects.serviceAccounts.getIamPolicy has no request body',
    'storage.buckets.insert needs the parameter project',
    'there is no POST /v1/projects/p/painters',
  ]);
});
