// `ropewalk setup gcp` against the emulated project: it creates the provider's resources once, however often it is interrupted,
// and deletes exactly those.
import { existsSync } from 'node:fs';

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';

import { createGcpTerminator } from '../../providers/gcp/from-settings.ts';
import { createGcpProvider } from '../../providers/gcp/provider.ts';
import { readGcpRegions } from '../../providers/gcp/settings-file.ts';
import { freshOwner, gcpSettings, startGcpCloud, workersRequest, type GcpTestCloud } from './gcp-cloud.ts';
import { complete, deployment, madeIn, nodeHash, nothing, prepareSetup, type GcpSetupRunner } from './gcp-setup-run.ts';

describe('the setup of a Google Cloud project', () => {
  let cloud: GcpTestCloud;
  let runner: GcpSetupRunner;
  const made = () => madeIn(cloud.emulator);
  beforeAll(async () => {
    cloud = await startGcpCloud();
    runner = await prepareSetup(cloud.emulator);
  });
  afterEach(() => cloud.emulator.send({ op: 'clearFaults' }));
  afterAll(async () => {
    await runner?.close();
    await cloud?.close();
  });

  it('shows its plan, changes nothing without a yes, and then makes a project in which instances launch', async () => {
    const { setup, settings } = runner;
    const plan = await setup({ planOnly: true });
    expect([plan.code, plan.err]).toEqual([0, '']);
    expect(plan.out).toContain('account test-project, deployment dep_setup');
    expect(plan.out).toContain('  create subnetwork rope-test, us-central1: 10.0.0.0/20\n');
    expect(plan.out).toContain(
      '  create firewall rule rope-test-scheduler: tcp 8786 of instances with the tag rope-test-scheduler from 0.0.0.0/0\n',
    );
    expect(plan.out).toContain('  create custom role rope_test_control_plane: ops/gcp/control-plane.json\n');
    const asJson = await setup({ planOnly: true, format: 'json' });
    expect(JSON.parse(asJson.out)).toMatchObject({ account: 'test-project', done: [], steps: expect.any(Array) });
    const asked = await setup({ yes: false });
    expect([asked.code, asked.err, await made()]).toEqual([1, expect.stringContaining('nothing was changed'), nothing]);

    const done = await setup();
    expect([done.code, await made()]).toEqual([0, complete]);
    expect(done.out).toContain(
      `ROPEWALK_GCP_SETTINGS=${settings} and ROPEWALK_OBJECTS='gs://rope-objects/ropewalk?signedUrls=true' for the API`,
    );
    expect(done.out).toContain('rope-test-control-plane@test-project.iam.gserviceaccount.com');
    const [file] = readGcpRegions(settings);
    expect(file).toMatchObject({
      ...{ project: 'test-project', region: 'us-central1', network: 'rope-test', subnetwork: 'rope-test' },
      networkTags: { cluster: ['rope-test'], scheduler: ['rope-test-scheduler'] },
      serviceAccount: 'rope-test@test-project.iam.gserviceaccount.com',
      zones: ['us-central1-a', 'us-central1-b', 'us-central1-c'],
    });
    expect(file.node.arm64.sha256).toBe(nodeHash);

    const again = await setup();
    expect([again.code, again.out, again.err]).toEqual([0, expect.stringContaining('\nnothing to change;'), '']);

    const { node: _node, apiCa: _apiCa, ...project } = file;
    const provider = createGcpProvider({ ...cloud.options, settings: { ...gcpSettings, ...project } });
    const owner = { ...freshOwner(), deploymentId: deployment };
    const { launched } = await provider.launch(workersRequest(owner, 2));
    expect(launched).toHaveLength(2);
    const refused = await setup({ remove: true });
    expect([refused.code, refused.err]).toEqual([1, expect.stringContaining('Nothing was removed')]);
    await createGcpTerminator(file, cloud.options.access).terminate(
      owner,
      launched.map(({ id }) => id),
      AbortSignal.timeout(60_000),
    );
    const removed = await setup({ remove: true });
    expect([removed.code, await made(), existsSync(settings)]).toEqual([0, nothing, false]);
    expect((await setup({ remove: true })).out).toContain('removed 0 resources');
  });

  it.each([
    ...['networks.insert', 'subnetworks.insert', 'firewalls.insert', 'serviceAccounts.create', 'roles.create'],
    ...['roles.undelete', 'buckets.insert', 'project.setIamPolicy', 'serviceAccounts.setIamPolicy'],
    ...['buckets.setIamPolicy', 'globalOperations.wait'],
    ...[
      'networks.delete',
      'subnetworks.delete',
      'firewalls.delete',
      'serviceAccounts.delete',
      'roles.delete',
      'buckets.delete',
    ],
  ])('makes everything once, and removes it, when the answer to %s is lost', async (action) => {
    const { setup } = runner;
    await cloud.emulator.send({ op: 'fault', fault: { action, kind: 'lost' } });
    expect(await setup()).toMatchObject({ code: 0 });
    expect([await made(), (await setup()).out]).toEqual([complete, expect.stringContaining('nothing to change')]);
    expect([(await setup({ remove: true })).code, await made()]).toEqual([0, nothing]);
  });

  it('enables the APIs first, waits until they work, and leaves them enabled', async () => {
    const { setup } = runner;
    await cloud.emulator.send({
      op: 'disable',
      services: ['cloudresourcemanager', 'iam', 'compute', 'logging', 'storage'],
    });
    const plan = await setup({ planOnly: true });
    expect([plan.code, plan.out.match(/change api .*: enable it/g)?.length]).toEqual([0, 5]);
    const late = { code: 'accessNotConfigured', message: 'It was enabled a moment ago.', status: 403 };
    await cloud.emulator.send({ op: 'fault', fault: { action: 'networks.get', kind: 'error', times: 3, ...late } });
    expect([(await setup()).code, await made(), (await cloud.emulator.project()).disabled]).toEqual([0, complete, []]);
    expect([(await setup({ remove: true })).code, await made()]).toEqual([0, nothing]);
    expect((await cloud.emulator.project()).disabled).toEqual([]);
  });

  it('waits for what is not known everywhere yet, and repeats a change of grants that met another one', async () => {
    const { setup } = runner;
    const missing = { code: 'INVALID_ARGUMENT', message: 'Service account rope-test does not exist.', status: 400 };
    const meanwhile = { code: 'ABORTED', message: 'There were concurrent policy changes.', status: 409 };
    const action = 'project.setIamPolicy';
    await cloud.emulator.send({ op: 'fault', fault: { action, kind: 'error', times: 2, ...missing } });
    await cloud.emulator.send({ op: 'fault', fault: { action, kind: 'error', nth: 3, ...meanwhile } });
    expect([(await setup()).code, await made()]).toEqual([0, complete]);
    // A network's rules disappear some time after their deletion; Google accepts the deletion of the network before that.
    const inUse = { code: 'RESOURCE_IN_USE_BY_ANOTHER_RESOURCE', message: 'The network is already being used.' };
    await cloud.emulator.send({ op: 'failOperation', call: 'networks.delete', error: inUse });
    const removed = await setup({ remove: true });
    expect([removed.code, await made()]).toEqual([0, nothing]);
    expect(removed.err.match(/waiting: network rope-test is still in use.*already being used/g)).toHaveLength(1);
  });

  it('names the step that fails, what Google said, and what to do', async () => {
    const { setup } = runner;
    const fault = { action: 'subnetworks.insert', kind: 'error', code: 'forbidden', status: 403 } as const;
    await cloud.emulator.send({
      op: 'fault',
      fault: { ...fault, message: "Required 'compute.subnetworks.create' permission" },
    });
    const { code, err } = await setup();
    expect([code, err]).toEqual([
      1,
      expect.stringMatching(
        /create subnetwork rope-test in us-central1: Google answered forbidden: Required 'compute.subnetworks.create'[^]*set-up\.json/,
      ),
    ]);
    expect((await setup({ remove: true })).code).toBe(0);
    expect(await made()).toEqual(nothing);
  });

  it('prepares several regions in one file, and removes one without what the other needs', async () => {
    const { setup, settings } = runner;
    expect((await setup({ regions: ['us-central1', 'europe-west4'] })).code).toBe(0);
    const regions = () => readGcpRegions(settings).map(({ region, zones }) => `${region} ${zones.length}`);
    expect(regions()).toEqual(['us-central1 3', 'europe-west4 3']);
    const { subnetworks } = await cloud.emulator.project();
    expect(subnetworks.filter(({ network }) => network === 'rope-test').map(({ cidr }) => cidr)).toEqual([
      '10.0.0.0/20',
      '10.1.0.0/20',
    ]);
    expect((await setup({ remove: true, regions: ['us-central1'] })).code).toBe(0);
    expect([regions(), await made()]).toEqual([['europe-west4 3'], { ...complete, subnetworks: ['europe-west4'] }]);
    expect((await setup({ remove: true })).code).toBe(0);
    expect([existsSync(settings), await made()]).toEqual([false, nothing]);
  });

  it('narrows who may connect, keeps that, and keeps a bucket that has objects', async () => {
    const { setup } = runner;
    const rangesNow = async () =>
      (await cloud.emulator.project()).firewalls.find(({ name }) => name === 'rope-test-scheduler')?.sourceRanges;
    expect((await setup({ clientRanges: ['203.0.113.0/24'] })).code).toBe(0);
    expect((await setup({ clientRanges: ['198.51.100.0/24'] })).err).toContain(
      'changed firewall rule rope-test-scheduler',
    );
    expect([(await setup()).code, await rangesNow()]).toEqual([0, ['198.51.100.0/24']]);
    await cloud.emulator.send({ op: 'bucket', name: 'theirs' });
    expect((await setup({ bucket: 'theirs' })).err).toContain('bucket theirs that this deployment did not create');
    await cloud.emulator.send({ op: 'plantObject', bucket: 'rope-objects', key: 'ropewalk/x' });
    const removed = await setup({ remove: true });
    expect([removed.code, removed.out]).toEqual([
      0,
      expect.stringContaining('keep   bucket rope-objects: it has objects'),
    ]);
    expect(await made()).toEqual({ ...nothing, buckets: ['rope-objects', 'theirs'] });
  });

  it('removes every role without --bucket, and says how to remove the bucket', async () => {
    const { setup } = runner;
    expect((await setup()).code).toBe(0);
    const removed = await setup({ remove: true, bucket: null });
    const command = 'ropewalk setup gcp --remove --project test-project --name rope-test --bucket BUCKET';
    expect([removed.code, removed.out]).toEqual([0, expect.stringContaining(command)]);
    const { roles, buckets } = await made();
    expect([roles, buckets]).toEqual([[], expect.arrayContaining(['rope-objects'])]);
    expect((await setup({ remove: true })).code).toBe(0);
    expect((await made()).grants).toEqual([]);
  });

  it('touches nothing that it did not make, and no grant of others', async () => {
    const { setup } = runner;
    const taken = await setup({ name: 'ropewalk', bucket: null });
    expect([taken.code, taken.err]).toEqual([
      1,
      expect.stringMatching(/network ropewalk that this deployment did not create[^]*--name/),
    ]);
    expect((await setup({ bucket: null })).code).toBe(0);
    const sameFile = await setup({ deployment: 'dep_other', bucket: null });
    expect([sameFile.code, sameFile.err]).toEqual([1, expect.stringContaining('is of deployment dep_setup')]);
    const other = await setup({ deployment: 'dep_other', settings: `${runner.settings}.other`, bucket: null });
    expect([other.code, other.err]).toEqual([1, expect.stringContaining('did not create')]);
    const theirs = { role: 'roles/iam.serviceAccountUser', member: 'user:person@example.com' };
    await cloud.emulator.send({ op: 'grant', on: 'project', ...theirs });
    expect((await setup({ remove: true, bucket: null })).code).toBe(0);
    const { policies } = await cloud.emulator.project();
    expect(policies['project']?.bindings).toEqual([{ role: theirs.role, members: [theirs.member] }]);
  });

  it('refuses what it cannot mean, naming the option', async () => {
    const { setup, quotas } = runner;
    const refusals = await Promise.all([
      setup({ name: 'rope' }),
      setup({ clientRanges: ['2001:db8::/32'] }),
      setup({ bucket: 'Upper' }),
      setup({ network: 'theirs' }),
      setup({ controlPlaneRole: 'x' }),
      setup({ regions: ['mars-north1'] }),
      setup({ env: {} }),
      quotas(256),
    ]);
    const said = refusals.map(({ code, err }) => `${code} ${err}`);
    for (const [at, text] of [
      '--name rope: it must have 6 to 16',
      '--client-range 2001:db8::/32 is not a range of IPv4',
      '--bucket Upper is not the name of a bucket',
      '--network is an option of setup aws',
      '--control-plane-role is an option of setup aws',
      'has no region mars-north1',
      'There is no project to prepare',
      'does not ask for quotas',
    ].entries())
      expect(said[at]).toMatch(new RegExp(`^1 [^]*${text}`));
    expect((await quotas(null)).out.split('\n')).toEqual([
      ...['all regions  CPUS_ALL_REGIONS: 32 vCPUs', 'all regions  GPUS_ALL_REGIONS: 0 GPUs'],
      ...['us-central1  CPUS: 24 vCPUs', 'us-central1  N2_CPUS: 8 vCPUs', 'us-central1  N2D_CPUS: 8 vCPUs'],
      ...['us-central1  PREEMPTIBLE_CPUS: 0 vCPUs', 'us-central1  NVIDIA_T4_GPUS: 1 GPU'],
      ...['us-central1  IN_USE_ADDRESSES: 8 addresses', 'us-central1  SSD_TOTAL_GB: 500 GB'],
    ]);
    expect((await quotas(null, 'other-project')).err).toContain('quotas of us-central1: Google answered');
  });

  // The last test: it lets weeks pass.
  it('restores deleted roles, and after a week says which option gives them other names', async () => {
    const of = { name: 'rope-late', bucket: null };
    const setup = (changes: object = {}) => runner.setup({ ...of, ...changes });
    expect((await setup()).code).toBe(0);
    expect((await setup({ remove: true })).code).toBe(0);
    await cloud.emulator.send({ op: 'advance', ms: 6 * 86_400_000 });
    expect(await setup()).toMatchObject({ code: 0, err: expect.stringContaining('rope_late_instance') });
    expect((await setup({ remove: true })).code).toBe(0);
    await cloud.emulator.send({ op: 'advance', ms: 8 * 86_400_000 });
    const late = await setup();
    expect([late.code, late.err]).toEqual([1, expect.stringContaining('choose other names with --name')]);
    expect((await setup({ remove: true })).code).toBe(0);
  });
});
