// Doctor finds wrong names in the settings, with the field, before a launch fails on them.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { gcpManifest } from '../../providers/gcp/manifest.ts';
import type { GcpFile } from '../../providers/gcp/settings-file.ts';
import { gcpFile, type GcpTestCloud, startGcpCloud } from './gcp-cloud.ts';

const account = (name: string): string => `${name}@test-project.iam.gserviceaccount.com`;

describe('doctor asks Google Cloud', () => {
  let cloud: GcpTestCloud;
  beforeAll(async () => {
    cloud = await startGcpCloud();
    const { emulator } = cloud;
    await emulator.plant({ kind: 'image', name: 'gpu', image: { family: 'driver' } });
    await emulator.plant({ kind: 'image', name: 'unfinished', image: { status: 'PENDING' } });
    await emulator.plant({ kind: 'image', name: 'retired', image: { family: 'old', deprecated: 'OBSOLETE' } });
  });
  afterAll(() => cloud?.close());

  async function ask(name: string, changes: Partial<GcpFile> = {}): Promise<unknown> {
    const settings = join(cloud.directory, 'gcp.json');
    await writeFile(settings, JSON.stringify({ ...gcpFile, ...changes }));
    const { url } = cloud.emulator;
    const overrides = { COMPUTE: url, IAM: url };
    const env = {
      ROPEWALK_GCP_SETTINGS: settings,
      ...Object.fromEntries(
        Object.entries(overrides).map(([api, at]) => [`CLOUDSDK_API_ENDPOINT_OVERRIDES_${api}`, at]),
      ),
    };
    const configured = gcpManifest.configure({ env, home: cloud.directory, hostId: 'host' });
    const found = configured?.checks.find((each) => each.name === name);
    if (found === undefined) throw new Error(`no check ${name}`);
    return found.run(AbortSignal.timeout(30_000), 'd_doctor').catch((error: unknown) => error);
  }
  const problem = (field: string, message: string): object => ({
    problem: { code: 'VALIDATION', field, message, hint: expect.stringContaining('ROPEWALK_GCP_SETTINGS') },
  });
  const network = 'gcp network us-central1';

  it('what is right', async () => {
    expect(await ask(network)).toMatch(/^network ropewalk, subnetwork ropewalk \(.+\), us-central1-a, us-central1-b/);
    const gpuImage = 'projects/test-project/global/images/family/driver';
    expect(await ask('gcp images', { gpuImage })).toMatch(/^ubuntu-.*amd64.*, ubuntu-.*arm64.*, gpu$/);
    expect(await ask('gcp service accounts')).toBe(gcpFile.serviceAccount);
  });

  it('for quotas, and warns when the smallest cluster does not fit', async () => {
    const quotas = 'gcp quotas us-central1';
    const found = await ask(quotas);
    expect(found).toMatch(
      /^used of what is permitted: CPUS_ALL_REGIONS 0 of 32, GPUS_ALL_REGIONS 0 of 0, CPUS 0 of 24, /,
    );
    expect(found).toMatch(
      /N2_CPUS 0 of 8, N2D_CPUS 0 of 8, NVIDIA_T4_GPUS 0 of 1, IN_USE_ADDRESSES 0 of 8, SSD_TOTAL_GB/,
    );
    const permit = (metric: string, vcpus: number | null) => cloud.emulator.send({ op: 'quota', metric, vcpus });
    await permit('IN_USE_ADDRESSES', 1);
    await permit('N2_CPUS', 0);
    expect(await ask(quotas)).toMatchObject({ hint: expect.stringContaining('Ask Google for more IN_USE_ADDRESSES:') });
    expect(await ask(quotas, { assignPublicIps: false })).toMatch(/IN_USE_ADDRESSES 0 of 1/);
    await permit('N2D_CPUS', 4);
    expect(await ask(quotas)).toMatchObject({ hint: expect.stringContaining('N2_CPUS, N2D_CPUS, IN_USE_ADDRESSES') });
    for (const metric of ['IN_USE_ADDRESSES', 'N2_CPUS', 'N2D_CPUS']) await permit(metric, null);
  });

  it.each<[string, Partial<GcpFile>, string, string]>([
    [
      network,
      { zones: ['us-central1-z'] },
      'zones',
      'The region us-central1 has no zone us-central1-z: it has us-central1-a, us-central1-b, us-central1-c.',
    ],
    [network, { network: 'other' }, 'network', 'The project test-project has no network other.'],
    [network, { subnetwork: 'other' }, 'subnetwork', 'The region us-central1 has no subnetwork other.'],
    [
      'gcp network us-east1',
      { region: 'us-east1', zones: ['us-east1-b'] },
      'region',
      'The project test-project has no region us-east1.',
    ],
    [
      'gcp images',
      { gpuImage: 'projects/test-project/global/images/none' },
      'gpuImage',
      'There is no image projects/test-project/global/images/none, or this process may not see it.',
    ],
    [
      'gcp images',
      { gpuImage: 'projects/test-project/global/images/unfinished' },
      'gpuImage',
      'The image projects/test-project/global/images/unfinished is pending: no instance can be launched from it.',
    ],
    [
      'gcp images',
      { gpuImage: 'projects/test-project/global/images/retired' },
      'gpuImage',
      'The image projects/test-project/global/images/retired is obsolete: no instance can be launched from it.',
    ],
    [
      'gcp images',
      { images: { ...gcpFile.images, arm64: gcpFile.images.x86_64 } },
      'images.arm64',
      `The image ${gcpFile.images.x86_64} is for X86_64, not for ARM64.`,
    ],
  ])('%s with %j', async (name, changes, field, message) => {
    expect(await ask(name, changes)).toMatchObject(problem(field, message));
  });

  it('about a subnetwork of another network', async () => {
    const body = { name: 'elsewhere', autoCreateSubnetworks: false };
    await cloud.emulator.send({ op: 'runAs', email: null });
    await create('global/networks', body);
    expect(await ask(network, { network: 'elsewhere' })).toMatchObject(
      problem(
        'subnetwork',
        'The subnetwork ropewalk in us-central1 belongs to the network ropewalk, not to elsewhere.',
      ),
    );
  });

  it('about accounts: of none, and of one that this process may not use', async () => {
    const none = account('not-created');
    expect(await ask('gcp service accounts', { workspaceServiceAccounts: { research: none } })).toMatchObject({
      problem: { code: 'FORBIDDEN', message: expect.stringContaining(none) },
    });
    await cloud.emulator.send({ op: 'runAs', email: account('control-plane') });
    expect(await ask('gcp service accounts')).toMatchObject({
      problem: { message: expect.stringContaining(gcpFile.serviceAccount), hint: expect.stringContaining('actAs') },
    });
    expect(await ask(network)).toMatchObject({
      problem: { code: 'UNAVAILABLE', message: expect.stringContaining('compute.regions.get') },
    });
    await cloud.emulator.send({ op: 'runAs', email: null });
  });

  async function create(path: string, body: object): Promise<void> {
    const response = await fetch(`${cloud.emulator.url}/compute/v1/projects/test-project/${path}`, {
      method: 'POST',
      headers: { authorization: 'Bearer emulated-owner', 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.status).toBe(200);
  }
});
