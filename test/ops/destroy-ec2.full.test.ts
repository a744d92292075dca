// `ropewalk destroy --by-tag` on EC2, with nothing of ours alive: no Temporal, no API. The oracle is what the cloud says.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { runDestroy } from '../../ops/destroy.ts';
import { runCli } from '../cli/run-cli.ts';
import { awsFile, freshOwner, startCloud, type TestCloud, workersRequest } from '../providers/aws-cloud.ts';

const deployment = 'd_test';
const other = 'd_other';

describe('ropewalk destroy --by-tag on EC2', () => {
  let cloud: TestCloud;
  let home: string;
  let env: Record<string, string>;
  beforeEach(async () => {
    cloud = await startCloud();
    home = await mkdtemp(join(tmpdir(), 'ropewalk-destroy-'));
    await writeFile(join(home, 'aws.json'), JSON.stringify(awsFile));
    env = {
      ROPEWALK_HOME: home,
      ROPEWALK_AWS_SETTINGS: join(home, 'aws.json'),
      AWS_ENDPOINT_URL: cloud.emulator.url,
      AWS_ACCESS_KEY_ID: 'AKIATEST',
      AWS_SECRET_ACCESS_KEY: 'test',
    };
  });
  afterEach(async () => {
    await cloud.close();
    await rm(home, { recursive: true, force: true });
  });

  async function launch(deploymentId: string): Promise<string[]> {
    const { launched } = await cloud.provider.launch(workersRequest({ ...freshOwner(), deploymentId }, 2));
    return launched.map(({ id }) => id);
  }
  const plant = (deploymentId: string, region = awsFile.region): Promise<string> => {
    const tags = { 'ropewalk:deployment': deploymentId, 'ropewalk:workspace': 'w', 'ropewalk:cluster': '7' };
    return cloud.emulator.plant({ region, kind: 'volume', tags, ageMs: 0 });
  };
  const there = async (): Promise<string[]> => [
    ...(await cloud.emulator.ledger()).live,
    ...(await cloud.emulator.resources()).map(({ id }) => id),
  ];
  const destroy = (...words: string[]): ReturnType<typeof runCli> =>
    runCli(['destroy', '--by-tag', '--deployment', deployment, ...words], { env });
  const said = () => {
    const lines: string[] = [];
    const say = (text: string): void => void lines.push(text);
    return { lines, said: { out: say, err: say, json: (value: unknown) => say(JSON.stringify(value)) } };
  };
  const directly = { dryRun: false, yes: true, format: 'table', ask: async () => null } as const;

  it('lists first, then ends instances, launch templates and volumes, those that stay behind too, and no others', async () => {
    const own = [...(await launch(deployment)), ...(await launch(deployment)), await plant(deployment)];
    await cloud.emulator.send({ op: 'keepVolume', id: own[0] ?? '' });
    await launch(other);
    await plant(other);
    const before = await there();

    const dry = await destroy('--dry-run', '--format', 'json');
    expect([dry.code, JSON.parse(dry.stdout).found.length, (await there()).toSorted()]).toEqual([
      ...[0, 4, before.toSorted()],
    ]);

    const { code, stdout, stderr } = await destroy('--yes');
    expect([code, stderr]).toEqual([0, '']);
    for (const id of own) expect(stdout).toContain(id);
    // The volume that its instance left behind was not to be seen at first. Templates went with their last instance, or then.
    expect(stdout).toMatch(/ended 4 instances, removed [2-4] cloud resources\n$/);
    const left = [...(await cloud.emulator.instances()), ...(await cloud.emulator.resources())].filter(
      ({ state }) => state !== 'terminated',
    );
    expect(left.length).toBeGreaterThan(4);
    expect(new Set(left.map(({ tags }) => tags['ropewalk:deployment']))).toEqual(new Set([other]));
    expect((await destroy('--yes')).stdout).toBe(`deployment ${deployment}: 0 instances\n`);
  });

  it('goes to every region that is configured', async () => {
    const { region, subnets, securityGroups, node } = awsFile;
    const regions = { [region]: { subnets, securityGroups }, 'eu-central-1': { subnets, securityGroups } };
    await writeFile(join(home, 'aws.json'), JSON.stringify({ regions, defaultRegion: region, node }));
    const abroad = await plant(deployment, 'eu-central-1');
    await plant(deployment);
    const { code, stdout } = await destroy('--yes');
    expect([code, stdout]).toEqual([
      0,
      expect.stringContaining(`eu-central-1  ${abroad}  workspace w, cluster 7, volume`),
    ]);
    expect(await there()).toEqual([]);
  });

  it('names the remaining resources at its time limit, and what to do', async () => {
    const ids = await launch(deployment);
    await cloud.emulator.send({ op: 'delays', shutdownMs: 3_600_000 });
    const { lines, said: to } = said();
    const code = await runDestroy({ ...directly, env, home, deployment, withinMs: 3_000 }, to);
    expect([code, lines.at(-2)]).toEqual([1, expect.stringContaining('error: some resources remain: ')]);
    expect(lines.at(-2)).toMatch(
      new RegExp(`resources? in us-east-1 .*${ids[0]}.* still existed when the time limit was reached`),
    );
    expect(lines.at(-1)).toContain('how to fix: Run it again');
  });

  it('says which settings are wrong, and what a cloud has against being asked', async () => {
    await writeFile(join(home, 'aws.json'), '{"region":"us-east-1"}');
    const wrong = await destroy('--yes');
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('aws.json are not valid')]);
    expect(wrong.stderr).toContain('how to fix: Set ROPEWALK_AWS_SETTINGS');

    await writeFile(join(home, 'aws.json'), JSON.stringify(awsFile));
    await cloud.emulator.send({
      op: 'fault',
      fault: { action: 'DescribeInstances', times: 100, kind: 'error', code: 'UnauthorizedOperation', status: 403 },
    });
    const refused = await destroy('--yes');
    expect([refused.code, refused.stderr]).toEqual([
      ...[1, expect.stringContaining('us-east-1 could not list everything: UnauthorizedOperation')],
    ]);
  });
});
