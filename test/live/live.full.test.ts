// The live suite itself, run where it costs nothing: against the emulated EC2.
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterEach, beforeEach, describe, expect, it } from 'vitest';

import { awsFile, awsSettings, freshOwner, startCloud, workersRequest } from '../providers/aws-cloud.ts';
import type { TestCloud } from '../providers/aws-cloud.ts';
import { eventually } from '../support/eventually.ts';
import { runLive } from './suite.ts';

let cloud: TestCloud;
let said: string[];
beforeEach(async () => {
  cloud = await startCloud();
  said = [];
});
afterEach(() => cloud.close());

const run = (signal: AbortSignal = new AbortController().signal): Promise<void> => {
  const say = (line: string): void => void said.push(line);
  return runLive({ settings: awsSettings, deploymentId: 'd_live_test', say, signal, unseenMs: 1_500 });
};
const launched = async (): Promise<{ type: string; tags: Record<string, string> }[]> =>
  (await cloud.emulator.ledger()).entries.filter(({ event }) => event === 'launched');
const expectNothingLeft = async (): Promise<void> => {
  expect((await cloud.emulator.ledger()).live).toEqual([]);
  expect(await cloud.provider.listResources('d_live_test')).toEqual([]);
  expect(said.at(-1)).toBe('nothing with the tags of d_live_test is left');
};

describe('the live suite', () => {
  it('passes, with one small instance that it ends, and leaves nothing', async () => {
    await cloud.emulator.send({ op: 'delays', visibleMs: 500, pendingMs: 500, shutdownMs: 500 });
    await run();
    expect(said).toEqual(
      expect.arrayContaining([
        'dry run of CreateFleet: permitted',
        'dry run of RunInstances: permitted',
        't3.micro in us-east-1a, on-demand: 0.0104 USD/h',
        'the same launch asked for again is the same instance',
      ]),
    );
    const all = await launched();
    expect(all.map(({ type, tags }) => [type, tags['ropewalk:deployment']])).toEqual([['t3.micro', 'd_live_test']]);
    await expectNothingLeft();
  });

  it('launches nothing where neither way is permitted, and says what AWS answered', async () => {
    for (const action of ['CreateFleet', 'RunInstances']) {
      const code = 'UnauthorizedOperation';
      await cloud.emulator.send({ op: 'fault', fault: { action, times: 100, kind: 'error', code, status: 403 } });
    }
    await expect(run()).rejects.toThrow('Neither way of launching is permitted.');
    expect(said).toContainEqual(expect.stringMatching(/^dry run of CreateFleet: UnauthorizedOperation: /));
    expect(await launched()).toEqual([]);
    await expectNothingLeft();
  });

  it('ends what it launched when it is interrupted, and when no answer came', async () => {
    await cloud.emulator.send({ op: 'delays', pendingMs: 3_600_000 });
    const stopping = new AbortController();
    const interrupted = run(stopping.signal);
    await eventually(() => said.some((line) => line.startsWith('the same launch')));
    stopping.abort();
    await expect(interrupted).rejects.toMatchObject({ name: 'AbortError' });
    await expectNothingLeft();

    // The dry run is answered; after that no answer arrives.
    await cloud.emulator.send({ op: 'fault', fault: { action: 'CreateFleet', nth: 2, times: 100, kind: 'lost' } });
    await cloud.emulator.send({ op: 'delays', visibleMs: 1_000 });
    const unanswered = runLive({
      ...{ settings: awsSettings, deploymentId: 'd_live_lost', say: (line) => void said.push(line) },
      ...{ signal: new AbortController().signal, unseenMs: 1_500 },
    });
    await expect(unanswered).rejects.toThrow('socket hang up');
    expect((await launched()).filter(({ tags }) => tags['ropewalk:deployment'] === 'd_live_lost')).toHaveLength(1);
    expect((await cloud.emulator.ledger()).live).toEqual([]);
  });
});

describe('npm run test:live', () => {
  it('launches nothing unless it is asked for, and says what it costs and wants', async () => {
    const asked = { ROPEWALK_LIVE_AWS: '1' };
    const [unasked, half, missing] = await Promise.all([
      start({}),
      start(asked),
      start({ ...asked, ROPEWALK_AWS_SETTINGS: '/nowhere/aws.json' }),
    ]);
    expect([unasked.code, unasked.stderr]).toEqual([
      2,
      expect.stringMatching(/less than 0\.01 USD[^]*ROPEWALK_LIVE_AWS=1/),
    ]);
    expect([half.code, half.stderr]).toEqual([2, expect.stringContaining('ROPEWALK_AWS_SETTINGS')]);
    expect([missing.code, missing.stderr]).toEqual([1, expect.stringContaining('/nowhere/aws.json')]);
  });

  it('cleans up after a run that was killed', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'ropewalk-live-'));
    try {
      const settings = join(directory, 'aws.json');
      await writeFile(settings, JSON.stringify(awsFile));
      await cloud.provider.launch(workersRequest({ ...freshOwner(), deploymentId: 'd_live_test' }, 1));
      const { code, stdout } = await start(
        { ROPEWALK_LIVE_AWS: '1', ROPEWALK_AWS_SETTINGS: settings, AWS_ENDPOINT_URL: cloud.emulator.url },
        ['--clean', 'd_live_test'],
      );
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^ending i-.*\nnothing .* d_live_test is left\n$/)]);
      expect((await cloud.emulator.ledger()).live).toEqual([]);
    } finally {
      await rm(directory, { recursive: true, force: true });
    }
  });
});

function start(
  env: Record<string, string>,
  args: string[] = [],
): Promise<{ code: number | string; stdout: string; stderr: string }> {
  const script = join(import.meta.dirname, 'main.ts');
  const credentials = { AWS_ACCESS_KEY_ID: 'AKIATEST', AWS_SECRET_ACCESS_KEY: 'test' };
  return new Promise((resolve) =>
    execFile(process.execPath, [script, ...args], { env: { ...credentials, ...env } }, (error, stdout, stderr) =>
      resolve({ code: error?.code ?? 0, stdout, stderr }),
    ),
  );
}
