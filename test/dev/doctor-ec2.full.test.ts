// The doctor where EC2 is configured: its settings, its credentials, its Temporal worker and its sweep.
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import type { StuckWorkflowsReport } from '../../contracts/stuck-workflows.ts';
import { runCli } from '../cli/run-cli.ts';
import { type Emulator, startEmulator } from '../emulator/emulator.ts';
import { awsFile } from '../providers/aws-cloud.ts';
import { startTemporal, type TestTemporal } from '../support/temporal-server.ts';

// Another test covers the doctor's other queries.
const report: StuckWorkflowsReport = { refusal: null, checked: 0, unknown: [], stuck: [] };
const control = { resetStuckWorkflows: async () => report };

describe('the doctor, asked about EC2', () => {
  let home: string;
  let emulator: Emulator;
  let temporal: TestTemporal;
  let env: Record<string, string>;
  beforeAll(async () => {
    home = await mkdtemp(join(tmpdir(), 'ropewalk-doctor-ec2-'));
    await writeFile(join(home, 'aws.json'), JSON.stringify(awsFile));
    emulator = await startEmulator();
    temporal = await startTemporal({ control, instances: { none: async () => undefined } });
    env = {
      ...{ ROPEWALK_HOME: home, HOME: home, TEMPORAL_ADDRESS: temporal.address },
      ...{ ROPEWALK_AWS_SETTINGS: join(home, 'aws.json'), AWS_ENDPOINT_URL: emulator.url },
      ...{ AWS_ACCESS_KEY_ID: 'AKIATEST', AWS_SECRET_ACCESS_KEY: 'test', AWS_EC2_METADATA_DISABLED: 'true' },
    };
  });
  afterAll(async () => {
    await temporal?.stop();
    await emulator?.stop();
    await rm(home, { recursive: true, force: true });
  });

  interface Finding {
    check: string;
    state: string;
    text: string;
    fix: string;
  }
  async function findings(changes: Record<string, string> = {}): Promise<Record<string, Finding>> {
    const { stdout } = await runCli(['doctor', '--format', 'json'], { env: { ...env, ...changes } });
    const found: Finding[] = JSON.parse(stdout);
    return Object.fromEntries(found.map((finding) => [finding.check, finding]));
  }

  it('reports on EC2 also before the namespace exists', async () => {
    expect(await findings({ TEMPORAL_NAMESPACE: 'not-there' })).toMatchObject({
      namespace: { state: 'broken', fix: 'Run: ropewalk init' },
      'aws launch us-east-1': { state: 'ok' },
    });
  });

  it('reports its AWS identity, the missing Temporal worker and the missing sweep, until `ropewalk init` creates the sweep', async () => {
    const before = await findings();
    expect(before).toMatchObject({
      'aws settings': { state: 'ok' },
      'aws credentials': { state: 'ok', text: 'arn:aws:iam::123456789012:user/emulator' },
      'aws identity keys': { state: 'ok', text: "AWS's certificates of us-east-1" },
      'aws subnets us-east-1': { state: 'ok', text: '3 subnets in us-east-1a, us-east-1b, us-east-1c' },
      'aws node': { state: 'warning', text: expect.stringContaining('https://nodejs.example/node-x64.tar.xz') },
      'aws launch us-east-1': { state: 'ok', text: expect.stringContaining('EC2 would launch m6i.xlarge') },
      'aws quotas us-east-1': { state: 'warning', text: expect.stringContaining('standard families, on demand 5') },
      'aws worker': {
        state: 'broken',
        text: expect.stringContaining('no Temporal worker polls provider/aws/us-east-1'),
      },
      'aws sweep': { state: 'broken', fix: expect.stringContaining('ropewalk init') },
    });
    const init = await runCli(['init'], { env });
    expect(init.stdout).toContain('created the schedule sweep/provider/aws/us-east-1, every 300 s');
    expect((await findings())['aws sweep']).toMatchObject({ state: 'ok' });
    const again = await runCli(['init', '--format', 'json'], { env });
    expect([again.code, again.stdout]).toEqual([0, expect.not.stringContaining('schedule')]);
  });

  it('distinguishes unusable settings from credentials that AWS rejects', async () => {
    await writeFile(join(home, 'half.json'), '{"region":"us-east-1"}');
    const half = await findings({ ROPEWALK_AWS_SETTINGS: join(home, 'half.json') });
    expect(half['aws settings']).toMatchObject({ state: 'broken', text: expect.stringContaining('subnets') });
    expect(half['aws credentials']).toBeUndefined();
    const absent = await findings({ ROPEWALK_AWS_SETTINGS: join(home, 'absent.json') });
    expect(absent['aws settings']).toMatchObject({ state: 'broken', text: expect.stringContaining('absent.json') });

    await emulator.send({
      op: 'fault',
      fault: { action: 'GetCallerIdentity', kind: 'error', code: 'InvalidClientTokenId', status: 403 },
    });
    expect((await findings())['aws credentials']).toMatchObject({
      ...{ state: 'broken', text: expect.stringContaining('InvalidClientTokenId') },
      fix: expect.stringContaining('AWS_PROFILE'),
    });
    const { AWS_ACCESS_KEY_ID: _id, AWS_SECRET_ACCESS_KEY: _secret, ...rest } = env;
    const { stdout } = await runCli(['doctor', '--format', 'json'], { env: rest });
    expect(stdout).toContain('CredentialsProviderError');
    // Users of this machine alone see no finding about EC2.
    expect(await findings({ ROPEWALK_AWS_SETTINGS: '' })).not.toHaveProperty('aws settings');
  });
});
