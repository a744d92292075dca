// A workspace with an AWS account of its own: the control plane assumes a role there, with an external id, until the role is revoked.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, expect, it } from 'vitest';

import type { Provider } from '../../providers/provider.ts';
import { byWorkspace } from '../../providers/aws/accounts.ts';
import { awsManifest } from '../../providers/aws/manifest.ts';
import { createAwsProvider } from '../../providers/aws/provider.ts';
import { createRegionReaders } from '../../providers/aws/region-readers.ts';
import { readAwsSettings } from '../../providers/aws/settings-file.ts';
import { awsFile, awsSettings, freshOwner, startCloud, type TestCloud, workersRequest } from './aws-cloud.ts';
import { permit, readControlPolicy, without } from './aws-permits.ts';

const roleArn = 'arn:aws:iam::210987654321:role/ropewalk-access';
const externalId = 'a-random-id';
const network = (({ subnets, workerSubnets, securityGroups, instanceProfile, assignPublicIps }) => ({
  ...{ subnets, workerSubnets, securityGroups, instanceProfile, assignPublicIps },
}))(awsFile);
const research = { roleArn, externalId, ...network };
const never = new AbortController().signal;

let cloud: TestCloud;
beforeAll(async () => {
  cloud = await startCloud();
  await cloud.emulator.send({ op: 'trust', roleArn, externalId });
});
afterAll(() => cloud.close());

/** As in one process; another one calls STS again. */
function provider({ id = externalId, revoked = 'skip' as 'skip' | 'fail' } = {}): Provider {
  const role = { roleArn, externalId: id };
  const theirs = createAwsProvider({ settings: awsSettings, unseenMs: 1_000, role });
  return byWorkspace(cloud.provider, new Map([['research', theirs]]), { revoked });
}
const ofResearch = () => ({ ...freshOwner(), workspace: 'research' });
const idsIn = async (role?: string): Promise<string[]> =>
  (await cloud.emulator.instances(role)).filter(({ state }) => state !== 'terminated').map(({ id }) => id);

it('launches, describes, lists and terminates there, and everything else in the account of the control plane', async () => {
  const [theirs, ours] = [ofResearch(), freshOwner()];
  const both = provider();
  const launched = await Promise.all(
    [theirs, ours].map(async (owner) => (await both.launch(workersRequest(owner, 2))).launched.map(({ id }) => id)),
  );
  const [there = [], here = []] = launched;
  expect((await idsIn(roleArn)).toSorted()).toEqual(there.toSorted());
  expect((await idsIn()).toSorted()).toEqual(here.toSorted());
  expect((await both.describe(theirs, there)).map(({ id }) => id).toSorted()).toEqual(there.toSorted());
  expect((await both.list('d_test')).map(({ id }) => id).toSorted()).toEqual([...there, ...here].toSorted());
  await both.terminate(theirs, there, never);
  expect([await idsIn(roleArn), (await idsIn()).length]).toEqual([[], 2]);
  await both.terminate(ours, here, never);
  expect(await both.list('d_test')).toEqual([]);
  expect(await both.listResources('d_test')).toEqual([]);
});

it('ends what a workspace launched before it got its account', async () => {
  const owner = ofResearch();
  const before = await cloud.provider.launch(workersRequest(owner, 1));
  const after = await provider().launch(workersRequest(owner, 1));
  const ids = [...before.launched, ...after.launched].map(({ id }) => id);
  expect((await provider().describe(owner, ids)).map(({ id }) => id).toSorted()).toEqual(ids.toSorted());
  await provider().terminate(owner, ids, never);
  expect([await idsIn(), await idsIn(roleArn)]).toEqual([[], []]);
});

it('that revoked its role, or has another external id, launches nothing, says why, and other accounts go on', async () => {
  const owner = freshOwner();
  const { launched } = await cloud.provider.launch(workersRequest(owner, 1));
  for (const refused of [provider({ id: 'a-guess' }), await revoked()]) {
    const outcome = await refused.launch(workersRequest(ofResearch(), 2));
    expect(outcome).toMatchObject({ launched: [], failures: [{ code: 'RoleRevoked', scope: 'account', count: 2 }] });
    expect(outcome.failures[0]?.text).toContain(roleArn);
    expect((await refused.list('d_test')).map(({ id }) => id)).toEqual(launched.map(({ id }) => id));
  }
  await expect(provider({ revoked: 'fail' }).list('d_test')).rejects.toThrow('does not let the control plane take');
  await cloud.provider.terminate(
    owner,
    launched.map(({ id }) => id),
    never,
  );
  await cloud.emulator.send({ op: 'trust', roleArn, externalId });
});

async function revoked(): Promise<Provider> {
  await cloud.emulator.send({ op: 'trust', roleArn, externalId: null });
  return provider();
}

it('is reached only with the permission to take its role', async () => {
  const policy = await readControlPolicy();
  await permit(cloud, [policy]);
  expect(await provider({ revoked: 'fail' }).list('d_test')).toEqual([]);
  await permit(cloud, [without(policy, 'sts:AssumeRole')]);
  await expect(provider({ revoked: 'fail' }).list('d_test')).rejects.toThrow('sts:AssumeRole');
  await permit(cloud, null);
});

it('is named by the settings, tried by doctor, and has its logs there', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-accounts-'));
  const path = join(directory, 'aws.json');
  const write = (account: object) =>
    writeFile(path, JSON.stringify({ ...awsFile, workspaceAccounts: { research: account } }));
  try {
    await write(research);
    expect(readAwsSettings(path).workspaceAccounts).toEqual({ research });
    const env = { ROPEWALK_AWS_SETTINGS: path, ROPEWALK_API_URL: 'https://ropewalk.example' };
    const checks = awsManifest.configure({ env, home: directory, hostId: 'h' })?.checks ?? [];
    const check = checks.find(({ name }) => name === 'aws launch us-east-1 of research');
    expect(await check?.run(AbortSignal.timeout(60_000), 'd_test')).toContain('EC2 would launch m6i.xlarge');
    const readers = createRegionReaders([readAwsSettings(path)]);
    for await (const _line of readers.logs({ owner: ofResearch() })) throw new Error('a line that no instance wrote');
    await write({ ...research, roleArn: 'ropewalk-access' });
    expect(() => readAwsSettings(path)).toThrow('arn:aws:iam::ACCOUNT:role/NAME');
    await write({ ...research, subnets: awsFile.subnets.slice(1) });
    expect(() => readAwsSettings(path)).toThrow('must have subnets in the zones of subnets');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
