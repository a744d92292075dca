// The manifests: every provider as the API, the Temporal worker and the operator's commands see it.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { configuredProviders, enabledProviders, manifests } from '../../providers/manifests.ts';
import type { ConfiguredProvider } from '../../providers/manifest.ts';
import type { Owner } from '../../providers/provider.ts';
import { buildAgent } from '../../agent/build.ts';
import { awsFile, startCloud, workersRequest } from './aws-cloud.ts';
import type { TestCloud } from './aws-cloud.ts';

let cloud: TestCloud;
let home: string;
let env: Record<string, string>;
beforeAll(async () => {
  cloud = await startCloud();
  home = await mkdtemp(join(tmpdir(), 'ropewalk-manifest-'));
  const { region, deployment, node, apiCa, ...place } = awsFile;
  const west = { ...place, subnets: [{ id: 'subnet-us-west-2a', zone: 'us-west-2a' }] };
  const file = join(home, 'aws.json');
  const keys = join(home, 'identity.json');
  const both = { regions: { [region]: place, 'us-west-2': west }, defaultRegion: region, deployment, node, apiCa };
  await writeFile(file, JSON.stringify(both));
  const key = await cloud.emulator.identityKey();
  await writeFile(keys, JSON.stringify({ [region]: key, 'us-west-2': key }));
  env = { ROPEWALK_AWS_SETTINGS: file, ROPEWALK_AWS_IDENTITY_KEYS: keys };
});
afterAll(async () => {
  await cloud.close();
  await rm(home, { recursive: true, force: true });
});

const configured = (name: string, variables: Record<string, string> = env): ConfiguredProvider => {
  const provider = manifests
    .find((manifest) => manifest.name === name)
    ?.configure({ env: variables, home, hostId: 'host_1' });
  if (provider === null || provider === undefined) throw new Error(`${name} is not configured`);
  return provider;
};

describe('the providers', () => {
  it('have names of their own, and instance ids that no other has', () => {
    expect(new Set(manifests.map(({ name }) => name)).size).toBe(manifests.length);
    for (const id of ['i_0123456789abcdef', 'i-0123456789abcdef0', 'rw-0123456789-0123456789-1']) {
      expect(manifests.filter(({ isInstanceId }) => isInstanceId(id))).toHaveLength(1);
    }
    expect(manifests.filter(({ isInstanceId }) => isInstanceId('node-1'))).toEqual([]);
  });

  it('are configured by the environment; this machine always is', () => {
    const names = (of: Record<string, string>) =>
      configuredProviders({ env: of, home, hostId: 'host_1' }).map(({ manifest }) => manifest.name);
    expect(names({})).toEqual(['local']);
    expect(names(env)).toEqual(['local', 'aws']);
  });

  it('are enabled by name, the preferred one first; this machine only when it is named', () => {
    const names = (more: Record<string, string>, orThisMachine?: boolean) =>
      enabledProviders({ env: { ...more }, home, hostId: 'host_1' }, orThisMachine).map(
        ({ manifest }) => manifest.name,
      );
    expect(names(env)).toEqual(['aws']);
    expect(names({ ...env, ROPEWALK_PROVIDERS: 'aws, local' })).toEqual(['aws', 'local']);
    expect(names({ ...env, ROPEWALK_PROVIDERS: 'local,local' })).toEqual(['local']);
    expect(() => names({})).toThrow('ROPEWALK_PROVIDERS is not set, and no cloud is configured');
    expect(names({}, true)).toEqual(['local']);
    expect(names(env, true)).toEqual(['aws']);
    expect(() => names({ ROPEWALK_PROVIDERS: 'aws' })).toThrow('names aws, and AWS EC2 has no settings');
    expect(() => names({ ROPEWALK_PROVIDERS: 'mars' })).toThrow('there is no such provider');
  });

  it('name every problem of their settings', async () => {
    const broken = join(home, 'broken.json');
    await writeFile(broken, JSON.stringify({ region: 'mars', subnets: [] }));
    const configure = () => configured('aws', { ROPEWALK_AWS_SETTINGS: broken });
    expect(configure).toThrow(/broken\.json are not valid[\s\S]*region[\s\S]*subnets/);
  });
});

describe('this machine', () => {
  it('is one place without a region, with one free offer, and needs no proof of identity', async () => {
    const local = configured('local', {});
    expect(local.places).toEqual([{ region: null, queue: 'local/host_1' }]);
    const reader = await local.reader();
    expect(await reader.placeOf(undefined).offers()).toMatchObject([{ type: 'local', pricePerHour: 0 }]);
    expect(() => reader.placeOf('us-east-1')).toThrow('This machine has no regions');
    expect([await local.identity(), local.checks, reader.placeOf(undefined).onDemandPrices]).toEqual([null, [], null]);
  });

  it('gives the Temporal worker a provider that launches, and the operator one that lists', async () => {
    const local = configured('local', { PATH: process.env['PATH'] ?? '' });
    const agentBundle = join(home, 'agent.mjs');
    await buildAgent(agentBundle);
    const launching = { apiUrl: 'http://127.0.0.1:9', agentBundle, nodePath: process.execPath, maxLocalInstances: 1 };
    const [worker] = await local.providers(launching);
    const [operator] = await local.terminators();
    const owner: Owner = { deploymentId: 'd_manifest', workspace: 'default', cluster: 1 };
    const slots = [{ slot: 0, generation: 1, role: 'worker' as const }];
    const request = { owner, clusterName: 'c', token: home, slots, apiUrl: launching.apiUrl, launchToken: 't' };
    const outcome = await worker?.provider.launch(request);
    const ids = outcome?.launched.map(({ id }) => id) ?? [];
    expect(ids).toHaveLength(1);
    expect((await operator?.provider.list('d_manifest'))?.map(({ id }) => id)).toEqual(ids);
    await operator?.provider.terminate(owner, ids, AbortSignal.timeout(30_000));
    expect(await operator?.provider.list('d_manifest')).toEqual([]);
  });
});

const identityOf = (region: string): string =>
  JSON.stringify({ instanceId: 'i-1', region, accountId: '1', pendingTime: '2026-01-01T00:00:00Z' });

describe('EC2', () => {
  it('is one place for each region, the default one first', async () => {
    const aws = configured('aws');
    expect(aws.places).toEqual([
      { region: 'us-east-1', queue: 'provider/aws/us-east-1' },
      { region: 'us-west-2', queue: 'provider/aws/us-west-2' },
    ]);
    const reader = await aws.reader();
    expect(reader.placeOf(undefined)).toMatchObject({
      region: 'us-east-1',
      zones: ['us-east-1a', 'us-east-1b', 'us-east-1c'],
    });
    expect(reader.placeOf('us-west-2')).toMatchObject({ queue: 'provider/aws/us-west-2', zones: ['us-west-2a'] });
    expect((await reader.placeOf(undefined).offers()).length).toBeGreaterThan(10);
    expect(() => reader.placeOf('mars')).toThrow('The region mars is not configured.');
    const logs = (): AsyncIterable<unknown> => reader.logs({ owner: { workspace: 'w', cluster: 1 }, region: 'mars' });
    expect(logs).toThrow('The region mars is no longer configured');
  });

  it('gives the Temporal worker providers that launch, and the operator those that terminate', async () => {
    const aws = configured('aws');
    const agentBundle = join(home, 'agent.txt');
    await writeFile(agentBundle, 'an agent');
    const launching = { apiUrl: 'https://x.example', agentBundle, nodePath: '', maxLocalInstances: 1 };
    const [worker] = await aws.providers(launching);
    const [operator, west] = await aws.terminators();
    expect([worker?.place.region, operator?.place.region, west?.place.region]).toEqual([
      'us-east-1',
      'us-east-1',
      'us-west-2',
    ]);
    const owner: Owner = { deploymentId: 'd_manifest', workspace: 'default', cluster: 1 };
    const outcome = await worker?.provider.launch(workersRequest(owner, 1));
    const ids = outcome?.launched.map(({ id }) => id) ?? [];
    expect(ids).toHaveLength(1);
    await operator?.provider.terminate(owner, ids, AbortSignal.timeout(30_000));
    expect(await operator?.provider.list('d_manifest')).toEqual([]);
  });

  it('verifies identity documents, and refuses to begin without the keys of all its regions', async () => {
    const proof = { document: '{}', signature: '' };
    expect(await (await configured('aws').identity())?.verify(proof, 'd_manifest')).toEqual({
      problem: 'it is not an identity document',
    });
    const { ROPEWALK_AWS_SETTINGS = '' } = env;
    const keyless = configured('aws', { ROPEWALK_AWS_SETTINGS });
    // Without a file: the certificates that AWS publishes, none of which signed this.
    const [document, signature] = [identityOf('us-east-1'), 'AAAA'];
    const shipped = await keyless.identity();
    expect(await shipped?.verify({ document, signature }, 'd_manifest')).toEqual({
      problem: 'its signature is invalid',
    });
    expect(await shipped?.verify({ document: identityOf('mars-north-1'), signature }, 'd_manifest')).toHaveProperty(
      'problem',
    );
    const half = join(home, 'half.json');
    await writeFile(half, JSON.stringify({ 'us-east-1': await cloud.emulator.identityKey() }));
    const partly = configured('aws', { ROPEWALK_AWS_SETTINGS, ROPEWALK_AWS_IDENTITY_KEYS: half });
    await expect(partly.identity()).rejects.toThrow('half.json has no identity key for us-west-2');
    const absent = configured('aws', { ROPEWALK_AWS_SETTINGS, ROPEWALK_AWS_IDENTITY_KEYS: join(home, 'absent.json') });
    await expect(absent.identity()).rejects.toThrow('absent.json cannot be used');
  });

  it.each(['http://127.0.0.1:7300', 'https://localhost', 'http://[::1]:7300'])(
    'launches nothing that would call %s, unless the cloud is on this machine too',
    async (apiUrl) => {
      const agentBundle = join(home, 'agent.txt');
      await writeFile(agentBundle, 'an agent');
      const launching = { apiUrl, agentBundle, nodePath: '', maxLocalInstances: 1 };
      await expect(configured('aws').providers(launching)).rejects.toThrow('this machine only');
      const emulated = { ...env, AWS_ENDPOINT_URL: cloud.emulator.url };
      expect(await configured('aws', emulated).providers(launching)).toHaveLength(2);
    },
  );

  it('has checks for the doctor: credentials, identity keys, and the address of the API', async () => {
    const [check, keys, apiUrl] = configured('aws').checks;
    const now = AbortSignal.timeout(30_000);
    expect(await keys?.run(now, 'd')).toMatch(/^keys for us-east-1, us-west-2 in /);
    expect(await apiUrl?.run(now, 'd')).toMatchObject({ text: 'not tried: ROPEWALK_API_URL is not set here' });
    const [, , loopback] = configured('aws', { ...env, ROPEWALK_API_URL: 'http://127.0.0.1:7300' }).checks;
    await expect(loopback?.run(now, 'd')).rejects.toThrow('no instance of EC2 could register');
    const names = ['aws credentials', 'aws identity keys', 'aws api url', 'aws agent', 'aws node'];
    expect(configured('aws').checks.map(({ name }) => name)).toEqual([
      ...names,
      ...['aws subnets us-east-1', 'aws subnets us-west-2'],
      ...['aws launch us-east-1', 'aws launch us-west-2', 'aws quotas us-east-1', 'aws quotas us-west-2'],
    ]);
    expect(await check?.run(AbortSignal.timeout(30_000), 'd')).toMatch(/^arn:aws:/);
    await expect(check?.run(AbortSignal.abort(), 'd')).rejects.toThrow('AWS does not accept the credentials');
  });
});
