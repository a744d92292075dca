// `ropewalk destroy --by-tag` on a cloud without a live control plane: no Temporal, no API. The oracle is the cloud's own state.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { runDestroy } from '../../ops/destroy.ts';
import { runCli } from '../cli/run-cli.ts';
import { freshOwner } from '../providers/launch-requests.ts';
import { clouds } from '../support/clouds.ts';
import type { StartedCloud } from '../support/clouds.ts';

const deployment = 'd_test';
const other = 'd_other';

describe.each(clouds)('ropewalk destroy --by-tag on $title', (tested) => {
  const { file, settingsVariable, region, secondRegion, listCall } = tested;
  let cloud: StartedCloud;
  let home: string;
  let settings: string;
  let env: Record<string, string>;
  beforeEach(async () => {
    cloud = await tested.start();
    home = await mkdtemp(join(tmpdir(), 'ropewalk-destroy-'));
    settings = join(home, 'cloud.json');
    await writeFile(settings, JSON.stringify(file));
    env = { ROPEWALK_HOME: home, ...tested.environment(cloud.emulator, settings) };
  });
  afterEach(async () => {
    await cloud.close();
    await rm(home, { recursive: true, force: true });
  });

  async function launch(deploymentId: string): Promise<string[]> {
    const { launched } = await cloud.provider.launch(cloud.workersRequest({ ...freshOwner(), deploymentId }, 2));
    return launched.map(({ id }) => id);
  }
  const plant = (deploymentId: string, inRegion = region): Promise<string> =>
    cloud.plant('volume', { deploymentId, workspace: 'w', cluster: 7 }, 0, inRegion);
  const plantRule = (deploymentId: string): Promise<string> =>
    cloud.plant('other', { deploymentId, workspace: 'w', cluster: 8 }, 0);
  const there = async (): Promise<string[]> => (await cloud.existing()).map(({ id }) => id).toSorted();
  const destroy = (...words: string[]): ReturnType<typeof runCli> =>
    runCli(['destroy', '--by-tag', '--deployment', deployment, ...words], { env });
  const said = () => {
    const lines: string[] = [];
    const say = (text: string): void => void lines.push(text);
    return { lines, said: { out: say, err: say, json: (value: unknown) => say(JSON.stringify(value)) } };
  };
  const directly = { dryRun: false, yes: true, format: 'table', ask: async () => null } as const;

  it('lists first, then ends instances and all else of them, what stays behind too, and no others', async () => {
    const launched = [...(await launch(deployment)), ...(await launch(deployment))];
    const own = [...launched, await plant(deployment), await plantRule(deployment)];
    await cloud.keepVolume(own[0] ?? '');
    await launch(other);
    await plant(other);
    await plantRule(other);
    const before = await there();

    const dry = await destroy('--dry-run', '--format', 'json');
    expect([dry.code, JSON.parse(dry.stdout).found.length, await there()]).toEqual([0, 4, before]);

    const { code, stdout, stderr } = await destroy('--yes');
    expect([code, stderr]).toEqual([0, '']);
    for (const id of own) expect(stdout).toContain(id);
    // Two were listed; the volume of the ended instance is a third, and EC2 may have two launch templates left.
    expect(stdout).toMatch(/ended 4 instances, removed [3-5] cloud resources\n$/);
    const left = await cloud.existing();
    expect(left.length).toBeGreaterThanOrEqual(4);
    expect(left.filter(({ deploymentId }) => deploymentId === deployment)).toEqual([]);
    expect(await there()).toEqual(expect.arrayContaining(before.filter((id) => left.some((each) => each.id === id))));
    expect(left.filter(({ deploymentId }) => deploymentId === other).length).toBeGreaterThanOrEqual(4);
    const again = (await destroy('--yes')).stdout;
    expect(again).toMatch(new RegExp(`^deployment ${deployment}: 0 instances\n  searched: this machine\n`));
    expect(again).toMatch(new RegExp(`  searched: (AWS EC2|Google Compute Engine), ${region} \\(.+\\)\n`));
  });

  it('goes to every region that is configured, and finds in each what is there', async () => {
    await writeFile(settings, JSON.stringify(tested.fileOfTwoRegions));
    const abroad = await plant(deployment, secondRegion);
    const here = await plant(deployment);
    const { code, stdout } = await destroy('--yes');
    expect(code).toBe(0);
    const searched = stdout.split('\n').find((line) => line.startsWith('  searched: ') && line.includes(region));
    expect(searched).toContain(secondRegion);
    expect(stdout).toContain(`${secondRegion}  ${abroad}  workspace w, cluster 7, volume`);
    expect(stdout).toContain(`${region}  ${here}  workspace w, cluster 7, volume`);
    expect(stdout).toMatch(/: 0 instances, 2 cloud resources\n[^]*ended 0 instances, removed 2 cloud resources\n$/);
    expect(await there()).toEqual([]);
  });

  it('names the remaining resources at its time limit, and what to do', async () => {
    const ids = await launch(deployment);
    await cloud.emulator.send({ op: 'delays', shutdownMs: 3_600_000 });
    const { lines, said: to } = said();
    const code = await runDestroy({ ...directly, env, home, deployment, withinMs: 3_000 }, to);
    expect([code, lines.at(-2)]).toEqual([1, expect.stringContaining('error: some resources remain: ')]);
    expect(lines.at(-2)).toMatch(
      new RegExp(`resources? in ${region} .*${ids[0]}.* still existed when the time limit was reached`),
    );
    expect(lines.at(-1)).toContain('how to fix: Run it again');
  });

  it.each([
    ['a connection breaks', { kind: 'cut' }],
    ['an answer is lost', { kind: 'lost' }],
    ['the cloud has a fault', { kind: 'error', code: 'InternalError', status: 503 }],
    ['the cloud throttles', { kind: 'error', ...tested.throttling }],
  ] as const)('goes on when %s for a moment, at each call', async (_, fault) => {
    await launch(deployment);
    await plant(deployment);
    await cloud.emulator.send({ op: 'delays', shutdownMs: 500 });
    const actions = [listCall, ...tested.endCalls];
    for (const action of actions) await cloud.emulator.send({ op: 'fault', fault: { action, ...fault } });
    const { code, stderr } = await destroy('--yes');
    expect([code, stderr]).toEqual([0, '']);
    const { injected } = await cloud.emulator.counts();
    expect(Object.keys(injected).map((name) => name.split(' ')[0])).toEqual(expect.arrayContaining(actions));
    expect(await there()).toEqual([]);
  });

  it('goes on while the cloud refuses its lists for longer than one request is repeated', async () => {
    await launch(deployment);
    const refused = { action: listCall, times: 24, kind: 'error' as const, ...tested.throttling };
    await cloud.emulator.send({ op: 'fault', fault: refused });
    const { lines, said: to } = said();
    const code = await runDestroy({ ...directly, env, home, deployment }, to);
    expect([code, lines]).toEqual([0, expect.anything()]);
    expect(lines.join('\n')).toContain(`${region} could not list everything`);
    expect(lines.at(-1)).toMatch(/^ended 2 instances/);
    expect(await there()).toEqual([]);
  });

  it('says which settings are wrong, and what a cloud has against being asked', async () => {
    await writeFile(settings, `{"region":"${region}"}`);
    const wrong = await destroy('--yes');
    expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining('cloud.json are not valid')]);
    expect(wrong.stderr).toContain(`how to fix: Set ${settingsVariable}`);

    await writeFile(settings, JSON.stringify(file));
    const denied = tested.name === 'aws' ? 'UnauthorizedOperation' : 'forbidden';
    await cloud.emulator.send({
      op: 'fault',
      fault: { action: listCall, times: 100, kind: 'error', code: denied, message: 'you may not', status: 403 },
    });
    const refused = await destroy('--yes');
    expect([refused.code, refused.stderr]).toEqual([
      ...[1, expect.stringMatching(new RegExp(`${region} could not list everything: (${denied}|.*you may not)`))],
    ]);
  });
});
