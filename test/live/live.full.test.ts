// The live suite itself, run at no cost: against the emulated clouds.
import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { parsePolicy } from '../emulator/policy.ts';
import { awsSettings, startCloud } from '../providers/aws-cloud.ts';
import { permit, readControlPolicy } from '../providers/aws-permits.ts';
import { gcpSettings } from '../providers/gcp-cloud.ts';
import { freshOwner } from '../providers/launch-requests.ts';
import { clouds } from '../support/clouds.ts';
import type { StartedCloud } from '../support/clouds.ts';
import { liveEc2, liveGce } from './clouds.ts';
import { runLive } from './suite.ts';

describe.each(clouds)('the live suite on $title', (tested) => {
  let cloud: StartedCloud;
  let said: string[];
  beforeEach(async () => {
    cloud = await tested.start();
    said = [];
  });
  afterEach(() => cloud.close());

  const live = () =>
    tested.name === 'aws'
      ? liveEc2(awsSettings)
      : liveGce(gcpSettings, { endpoint: cloud.emulator.url, loggingEndpoint: null });
  const run = (
    signal = new AbortController().signal,
    { deploymentId = 'd_live_test', hear = (_line: string): void => undefined } = {},
  ): Promise<void> => {
    const say = (line: string): void => {
      said.push(line);
      hear(line);
    };
    return runLive({ cloud: live(), deploymentId, say, signal, unseenMs: 1_500 });
  };
  const launched = async () => (await cloud.emulator.ledger()).entries.filter(({ event }) => event === 'launched');
  const expectNothingLeft = async (): Promise<void> => {
    expect((await cloud.existing()).filter(({ deploymentId }) => deploymentId === 'd_live_test')).toEqual([]);
    expect(await cloud.billed()).toEqual([]);
    expect(said.at(-1)).toBe('nothing with the tags of d_live_test is left');
  };

  it('passes, with one small instance that it ends, and leaves nothing', async () => {
    await cloud.emulator.send({ op: 'delays', visibleMs: 500, pendingMs: 500, shutdownMs: 500 });
    await run();
    const { type } = live();
    const zone = tested.zones[0];
    expect(said).toEqual(
      expect.arrayContaining([
        expect.stringMatching(new RegExp(`^${type} in ${zone}, on-demand: 0\\.0\\d+ USD/h$`)),
        'the same launch asked for again is the same instance',
      ]),
    );
    if (tested.name === 'aws') expect(said).toContain('dry run of CreateFleet: permitted');
    const all = await launched();
    expect(all.map((each) => [each.type, each.tags[tested.tags.deployment]])).toEqual([[type, 'd_live_test']]);
    await expectNothingLeft();
  });

  it.runIf(tested.name === 'aws')(
    'launches nothing where neither way is permitted, and says what AWS answered',
    async () => {
      for (const action of ['CreateFleet', 'RunInstances']) {
        const code = 'UnauthorizedOperation';
        await cloud.emulator.send({ op: 'fault', fault: { action, times: 100, kind: 'error', code, status: 403 } });
      }
      await expect(run()).rejects.toThrow('Neither way of launching is permitted.');
      expect(said).toContainEqual(expect.stringMatching(/^dry run of CreateFleet: UnauthorizedOperation: /));
      expect(await launched()).toEqual([]);
      await expectNothingLeft();
    },
  );

  it('says what the cloud refused, and leaves nothing', async () => {
    for (const zone of tested.zones)
      await cloud.emulator.send({ op: 'capacity', pool: `${live().type}/${zone}/on-demand`, instances: 0 });
    await expect(run()).rejects.toThrow(/^Nothing was launched: .*capacity/i);
    expect(await launched()).toEqual([]);
    await expectNothingLeft();
  });

  it('ends what it launched when it is interrupted, and when no answer came', async () => {
    await cloud.emulator.send({ op: 'delays', pendingMs: tested.name === 'aws' ? 3_600_000 : 0, shutdownMs: 2_000 });
    const stopping = new AbortController();
    const hear = (line: string): void => {
      if (line.startsWith('launched')) stopping.abort();
    };
    await expect(run(stopping.signal, { hear })).rejects.toMatchObject({ name: 'AbortError' });
    await expectNothingLeft();

    // On EC2 the dry run is answered; after that no answer arrives.
    const nth = tested.name === 'aws' ? 2 : 1;
    await cloud.emulator.send({ op: 'fault', fault: { action: tested.launchCall, nth, times: 100, kind: 'lost' } });
    await cloud.emulator.send({ op: 'delays', visibleMs: 1_000 });
    await expect(run(undefined, { deploymentId: 'd_live_lost' })).rejects.toThrow('socket hang up');
    expect((await launched()).filter(({ tags }) => tags[tested.tags.deployment] === 'd_live_lost')).toHaveLength(1);
    expect(await cloud.billed()).toEqual([]);
  });

  it('as a command: cleans up after a run that was killed', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'ropewalk-live-'));
    try {
      const settings = join(directory, 'cloud.json');
      await writeFile(settings, JSON.stringify(tested.file));
      await cloud.provider.launch(cloud.workersRequest({ ...freshOwner(), deploymentId: 'd_live_test' }, 1));
      const env = {
        [`ROPEWALK_LIVE_${tested.name.toUpperCase()}`]: '1',
        ...tested.environment(cloud.emulator, settings),
      };
      const { code, stdout } = await start(env, ['--provider', tested.name, '--clean', 'd_live_test']);
      expect([code, stdout]).toEqual([
        0,
        expect.stringMatching(/^ending \S+\n(.*\n)*nothing .* d_live_test is left\n$/),
      ]);
      expect(await cloud.billed()).toEqual([]);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });

  it('as a command: launches nothing unless it is asked for, and says what it costs and wants', async () => {
    const asked = { [`ROPEWALK_LIVE_${tested.name.toUpperCase()}`]: '1' };
    const provider = ['--provider', tested.name];
    const [unasked, half, missing] = await Promise.all([
      start({}, provider),
      start(asked, provider),
      start({ ...asked, [tested.settingsVariable]: '/nowhere/cloud.json' }, provider),
    ]);
    expect([unasked.code, unasked.stderr]).toEqual([
      2,
      expect.stringMatching(new RegExp(`some cents[^]*ROPEWALK_LIVE_${tested.name.toUpperCase()}=1`)),
    ]);
    expect([half.code, half.stderr]).toEqual([2, expect.stringContaining(tested.settingsVariable)]);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('/nowhere/cloud.json')]);
    expect(await launched()).toEqual([]);
  });
});

function start(
  env: Record<string, string>,
  args: string[] = [],
): Promise<{ code: number | string; stdout: string; stderr: string }> {
  const script = join(import.meta.dirname, 'main.ts');
  return new Promise((resolve) =>
    execFile(process.execPath, [script, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    ),
  );
}

describe('the live suite under the policy of the control plane', () => {
  const never = new AbortController().signal;
  const run = (say: (line: string) => void): Promise<void> =>
    runLive({ cloud: liveEc2(awsSettings), deploymentId: 'd_live_test', say, signal: never, unseenMs: 500 });

  it('may launch with ops/aws/control-plane.json as it is, and not with that of a deployment, whose tag it does not use', async () => {
    const cloud = await startCloud();
    try {
      await permit(cloud, [parsePolicy(await readFile('ops/aws/control-plane.json', 'utf8'))]);
      const said: string[] = [];
      await run((line) => void said.push(line));
      expect(said).toContain('dry run of CreateFleet: permitted');
      await permit(cloud, [await readControlPolicy()]);
      await expect(run(() => undefined)).rejects.toThrow('Neither way of launching is permitted.');
    } finally {
      await cloud.close();
    }
  });
});
