// The roles of ops/gcp in use: the emulated project checks each permission that Google's reference names. With them all
// operations of setup, the provider and the object store work, and they contain no unused permission.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';

import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';

import { createGcsSignedFiles } from '../../platform/objects/gcs-signed-files.ts';
import { createGcsObjects } from '../../platform/objects/gcs.ts';
import { createGcpProvider } from '../../providers/gcp/provider.ts';
import { resourceChecks } from '../../providers/gcp/resource-checks.ts';
import type { Provider } from '../../providers/provider.ts';
import { readGcpRegions } from '../../providers/gcp/settings-file.ts';
import { freshOwner, gcpSettings, placement, startGcpCloud, workersRequest, type GcpTestCloud } from './gcp-cloud.ts';
import { complete, deployment, madeIn, nothing, prepareSetup, type GcpSetupRunner } from './gcp-setup-run.ts';

const permissionsOf = async (file: string): Promise<string[]> => {
  const text = await readFile(new URL(`../../ops/gcp/${file}.json`, import.meta.url), 'utf8');
  const { includedPermissions }: { includedPermissions: string[] } = JSON.parse(text);
  return includedPermissions;
};
const account = (name: string): string => `${name}@test-project.iam.gserviceaccount.com`;
const never = new AbortController().signal;
const emptySha256 = createHash('sha256').digest('hex');

describe('the roles of a prepared project', () => {
  let cloud: GcpTestCloud;
  let runner: GcpSetupRunner;
  const setUpBy = async (permissions: string[] | null): Promise<void> =>
    cloud.emulator.send({ op: 'permit', permissions });
  const usedBy = async (email: string): Promise<string[]> => (await cloud.emulator.usedPermissions())[email] ?? [];
  beforeAll(async () => {
    cloud = await startGcpCloud();
    runner = await prepareSetup(cloud.emulator);
    // Operations that must be waited for: reading them is a permission too.
    await cloud.emulator.send({ op: 'delays', pendingMs: 60, shutdownMs: 60, changeMs: 30 });
  });
  afterEach(() => void vi.unstubAllEnvs());
  afterAll(async () => {
    await runner?.close();
    await cloud?.close();
  });

  /** For this project, with a GPU image of its own: covers every need of a launch. */
  const providerOf = (): Provider => {
    const [file] = readGcpRegions(runner.settings);
    const { node: _node, apiCa: _apiCa, ...project } = file;
    const gpuImage = 'projects/test-project/global/images/gpu';
    return createGcpProvider({ ...cloud.options, settings: { ...gcpSettings, ...project, gpuImage } });
  };

  /** All calls of a cluster's life, and the reads of the operator's commands. */
  async function liveOnce(provider: Provider): Promise<void> {
    const owner = { ...freshOwner(), deploymentId: deployment };
    const ingress = { scheduler: { port: 9786, from: ['198.51.100.0/24'] }, ssh: null };
    const worker = placement({ market: 'spot', types: ['g2-standard-4'] });
    const request = workersRequest(owner, 2, undefined, worker);
    const slots = [{ slot: 0, generation: 1, role: 'head' as const }, ...request.slots];
    const all = { ...request, slots, placement: { head: placement(), worker, oneZone: true, ingress } };
    await provider.offers({});
    const { launched, failures } = await provider.launch(all);
    expect([launched.length, failures]).toEqual([3, []]);
    const ids = launched.map(({ id }) => id);
    expect(await provider.describe(owner, ids)).toHaveLength(3);
    const labels = {
      ...{ 'ropewalk-deployment': deployment, 'ropewalk-workspace': owner.workspace },
      'ropewalk-cluster': String(owner.cluster),
    };
    await cloud.emulator.send({ op: 'plant', kind: 'disk', name: 'left', labels });
    await provider.list(deployment);
    for await (const line of provider.logs({ owner })) throw new Error(`no agent wrote ${line.text}`);
    await provider.terminate(owner, ids, never);
    await provider.release?.(owner, never);
    const left = await provider.listResources(deployment);
    expect(left).toHaveLength(1);
    await provider.deleteResources(
      owner,
      left.map(({ id }) => id),
      never,
    );
  }

  /** The checks of the settings, with an image of the project by its name and one by its family. */
  async function askDoctor(): Promise<void> {
    const env = {
      CLOUDSDK_API_ENDPOINT_OVERRIDES_COMPUTE: cloud.emulator.url,
      CLOUDSDK_API_ENDPOINT_OVERRIDES_IAM: cloud.emulator.url,
    };
    await cloud.emulator.plant({ kind: 'image', name: 'own-1', image: { family: 'own' } });
    const [file] = readGcpRegions(runner.settings);
    const own = 'projects/test-project/global/images';
    const images = { ...file.images, x86_64: `${own}/family/own` };
    for (const check of resourceChecks([{ ...file, images, gpuImage: `${own}/gpu` }], env))
      await check.run(AbortSignal.timeout(30_000), deployment);
  }

  it('are made and removed with the permissions of ops/gcp/set-up.json, every one of which is needed', async () => {
    const setUp = await permissionsOf('set-up');
    await setUpBy(setUp);
    // As personal credentials name one; its use is a permission.
    vi.stubEnv('GOOGLE_CLOUD_QUOTA_PROJECT', 'test-project');
    await cloud.emulator.send({ op: 'disable', services: ['storage'] });
    const { setup } = runner;
    expect(await setup()).toMatchObject({ code: 0 });
    expect((await setup({ clientRanges: ['203.0.113.0/24'] })).code).toBe(0);
    expect((await runner.quotas(null)).code).toBe(0);
    expect([(await setup({ remove: true })).code, await madeIn(cloud.emulator)]).toEqual([0, nothing]);
    // Once more: the roles are restored.
    expect(await setup()).toMatchObject({ code: 0 });
    await cloud.emulator.send({ op: 'weakenRole', id: 'rope_test_instance' });
    expect([(await setup()).err, await madeIn(cloud.emulator)]).toEqual([
      expect.stringContaining('changed custom role rope_test_instance'),
      complete,
    ]);
    expect(await usedBy(account('control-plane'))).toEqual(setUp.toSorted());
    await setUpBy(null);
  });

  it('let the control plane do all that it does, and have no permission that nothing needs', async () => {
    const email = account('rope-test-control-plane');
    await cloud.emulator.send({ op: 'runAs', email });
    await cloud.emulator.plant({ kind: 'image', name: 'gpu' });
    const provider = providerOf();
    await liveOnce(provider);
    await askDoctor();
    const control = await permissionsOf('control-plane');
    expect(await usedBy(email)).toEqual([...control, 'iam.serviceAccounts.actAs'].toSorted());

    const endpoint = cloud.emulator.url;
    const objects = createGcsObjects({
      kind: 'gs',
      bucket: 'rope-objects',
      prefix: 'ropewalk/',
      endpoint,
      signing: null,
    });
    await objects.put('x', Buffer.from('one'));
    await objects.put('x', Buffer.from('two'));
    expect(await objects.create('x', Buffer.from('three'))).toBe(false);
    expect(Buffer.from((await objects.get('x')) ?? []).toString()).toBe('two');
    expect([await objects.get('absent'), await objects.list('', { limit: 9 })]).toEqual([null, ['x']]);
    await objects.delete('x');
    const signing = {
      kind: 'gs' as const,
      bucket: 'rope-objects',
      prefix: 'ropewalk/',
      endpoint,
      signing: { endpoint },
    };
    const { url, headers } = await createGcsSignedFiles(signing).uploadUrl('y', { bytes: 0, sha256: emptySha256 });
    const { 'content-length': _length, ...sent } = headers;
    expect((await fetch(url, { method: 'PUT', headers: sent, body: '' })).status).toBe(200);
    await objects.delete('y');
    const store = await permissionsOf('object-store');
    const accounts = ['iam.serviceAccounts.actAs', 'iam.serviceAccounts.signBlob'];
    expect(await usedBy(email)).toEqual([...control, ...store, ...accounts].toSorted());
    await cloud.emulator.send({ op: 'runAs', email: null });
  });

  it('are refused what is not theirs', async () => {
    const provider = providerOf();
    const owner = { ...freshOwner(), deploymentId: deployment };
    await cloud.emulator.send({ op: 'runAs', email: account('rope-test') });
    await expect(provider.list(deployment)).rejects.toThrow(/compute\.instances\.list/);
    const { failures } = await provider.launch(workersRequest(owner, 1));
    expect(failures).toMatchObject([{ scope: 'account', text: expect.stringContaining('compute.instances.create') }]);
    await cloud.emulator.send({ op: 'runAs', email: account('rope-test-control-plane') });
    const { setup } = runner;
    const { code, err } = await setup({ name: 'rope-more', bucket: null });
    expect([code, err]).toEqual([1, expect.stringMatching(/serviceusage\.services\.get[^]*ops\/gcp\/set-up\.json/)]);
    // For a workspace with an account of its own, on which it has no grant.
    const [file] = readGcpRegions(runner.settings);
    const { node: _node, apiCa: _apiCa, ...project } = file;
    const research = createGcpProvider({
      ...cloud.options,
      settings: { ...gcpSettings, ...project, workspaceServiceAccounts: { research: account('ropewalk') } },
    });
    const denied = await research.launch(workersRequest({ ...owner, workspace: 'research' }, 1));
    expect(denied.failures).toMatchObject([{ scope: 'account', text: expect.stringContaining('actAs') }]);
    const actAs = {
      role: 'roles/iam.serviceAccountUser',
      member: `serviceAccount:${account('rope-test-control-plane')}`,
    };
    await cloud.emulator.send({ op: 'grant', on: `account:${account('ropewalk')}`, ...actAs });
    const allowed = await research.launch(workersRequest({ ...owner, workspace: 'research', cluster: 77 }, 1));
    expect(allowed.failures).toEqual([]);
    const [instance] = (await cloud.emulator.instances()).filter(({ labels }) => labels['ropewalk-cluster'] === '77');
    expect(instance?.serviceAccount).toBe(account('ropewalk'));
    await research.terminate(
      { ...owner, workspace: 'research', cluster: 77 },
      allowed.launched.map(({ id }) => id),
      never,
    );
    // Without the grant on it, the control plane cannot launch with the instances' account either.
    const grant = { role: 'roles/iam.serviceAccountUser', member: 'user:person@example.com' };
    await cloud.emulator.send({ op: 'replaceGrants', on: `account:${account('rope-test')}`, ...grant });
    const refused = await provider.launch(workersRequest(owner, 1));
    expect(refused.failures).toMatchObject([{ scope: 'account', text: expect.stringContaining('actAs') }]);
    await cloud.emulator.send({ op: 'runAs', email: null });
    expect((await setup({ remove: true })).code).toBe(0);
  });
});
