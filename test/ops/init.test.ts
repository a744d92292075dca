// `ropewalk init` against a real Temporal server: its effects, its repetition, and the objects it leaves unchanged.
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { defaultConfigPath, prepareSettings, readDevConfig } from '../../dev/config.ts';
import { loadHost } from '../../ops/host.ts';
import { claimNamespace } from '../../ops/init/claim.ts';
import { prepareNamespace } from '../../ops/init/namespace.ts';
import { usualSettings } from '../../ops/init/prepare.ts';
import { ensureSweepSchedule } from '../../ops/init/schedule.ts';
import { sweepScheduleId } from '../../contracts/sweep.ts';
import { runCli } from '../cli/run-cli.ts';
import { makeHome } from '../support/stack.ts';
import { startTemporal, type TestTemporal } from '../support/temporal-server.ts';
import { namespaceOwner } from '../../platform/namespace-claim.ts';

const nothing = { none: async () => undefined };

describe('ropewalk init', () => {
  let temporal: TestTemporal;
  let connection: Connection;
  let home: string;
  let env: Record<string, string>;
  beforeAll(async () => {
    home = await makeHome();
    temporal = await startTemporal({ control: nothing, instances: nothing });
    const { address } = temporal;
    connection = await Connection.connect({ address });
    env = {
      ...{ ROPEWALK_HOME: home, HOME: home, ROPEWALK_PROVIDERS: 'local' },
      ...{ TEMPORAL_ADDRESS: address, TEMPORAL_NAMESPACE: 'another' },
    };
  });
  afterAll(async () => {
    await connection?.close();
    await temporal?.stop();
    await rm(home, { recursive: true, force: true });
  });

  it('makes the tables, a namespace, its search attributes and the schedules, and says so', async () => {
    const { code, stdout, stderr } = await runCli(['init', '--retention-days', '40'], { env });
    const host = await loadHost(home);
    const hint = 'There are no users yet: "ropewalk init --admin NAME" adds the first admin and prints their token.\n';
    expect([code, stderr]).toEqual([0, hint]);
    expect(stdout.trim().split('\n')).toEqual([
      `created the tables in ${home}/ropewalk.db, for deployment ${host.deploymentId}`,
      `created the keys in ${home}/keys.json`,
      'created namespace another, which keeps ended workflows for 40 days',
      'added the search attributes RopewalkWorkspace, RopewalkUser, RopewalkStatus (Keyword)',
      `claimed the namespace for deployment ${host.deploymentId}: schedule reconcile, every 300 s`,
      `created the schedule sweep/local/${host.hostId}, every 300 s`,
      'created the schedule stuck-workflows, every 300 s',
      `namespace another at ${temporal.address} and ${home}/ropewalk.db are ready for deployment ${host.deploymentId} (home ${home})`,
    ]);
    const { config } = await connection.workflowService.describeNamespace({ namespace: 'another' });
    expect(Number(config?.workflowExecutionRetentionTtl?.seconds)).toBe(40 * 86_400);
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: 'another' });
    expect(Object.keys(customAttributes ?? {})).toEqual(expect.arrayContaining(usualSettings.searchAttributes));
    const client = new Client({ connection, namespace: 'another' });
    expect(await namespaceOwner(client)).toBe(host.deploymentId);
    const schedule = await client.schedule.getHandle(sweepScheduleId(`local/${host.hostId}`)).describe();
    expect([schedule.spec.intervals?.[0]?.every, schedule.policies.overlap]).toEqual([300_000, 'SKIP']);
    expect(schedule.action.args).toEqual([
      {
        ...{ deploymentId: host.deploymentId, provider: 'local', providerQueue: `local/${host.hostId}` },
        ...{ graceMs: 240_000, dryRun: false },
      },
    ]);
  });

  it('changes nothing the second time', async () => {
    const { stdout } = await runCli(['init', '--format', 'json'], { env });
    expect(JSON.parse(stdout)).toMatchObject({ namespace: 'another', changes: [], admin: null });
  });

  it('reports a retention that is too short, and leaves it', async () => {
    const { stdout } = await runCli(['init', '--retention-days', '90'], { env });
    expect(stdout).toContain('left the retention of namespace another at 40 days, which is less than 90');
  });

  it('creates the sweep of the host that ROPEWALK_HOST_ID names', async () => {
    const { stdout } = await runCli(['init'], { env: { ...env, ROPEWALK_HOST_ID: 'host_1' } });
    expect(stdout).toContain('created the schedule sweep/local/host_1, every 300 s');
  });

  it('brings a schedule to other settings, and leaves it paused', async () => {
    const client = new Client({ connection, namespace: 'another' });
    const host = await loadHost(home);
    const target = { deploymentId: host.deploymentId, provider: 'local', providerQueue: `local/${host.hostId}` };
    const handle = client.schedule.getHandle(sweepScheduleId(`local/${host.hostId}`));
    await handle.pause('by a test');
    const timing = { everyMs: 60_000, graceMs: 30_000 };
    expect(await ensureSweepSchedule(client, target, timing)).toEqual([
      `changed the schedule sweep/local/${host.hostId}, every 60 s`,
    ]);
    expect(await ensureSweepSchedule(client, target, timing)).toEqual([]);
    // Concurrent changes of the schedule: the server drops some of them.
    for (let round = 1; round <= 10; round += 1) {
      const [, changed] = await Promise.all([
        handle.pause(`round ${round}`),
        ensureSweepSchedule(client, target, { everyMs: 60_000 + round * 1_000, graceMs: 30_000 }),
      ]);
      expect(changed).toHaveLength(1);
      expect((await handle.describe()).spec.intervals?.[0]?.every).toBe(60_000 + round * 1_000);
    }
    expect(await ensureSweepSchedule(client, target, timing)).toHaveLength(1);
    const { spec, state } = await handle.describe();
    expect([spec.intervals?.[0]?.every, state.paused]).toEqual([60_000, true]);
  });

  it('refuses a second namespace of the deployment, and makes nothing there', async () => {
    const { code, stderr } = await runCli(['init', '--namespace', 'second'], { env });
    expect([code, stderr]).toEqual([1, expect.stringContaining('uses the Temporal namespace another, not second')]);
    expect(stderr).toContain('how to fix: Set TEMPORAL_NAMESPACE=another');
    await expect(connection.workflowService.describeNamespace({ namespace: 'second' })).rejects.toThrow('not found');
  });

  it('touches no namespace of another deployment', async () => {
    const stranger = await makeHome();
    try {
      const { code, stderr } = await runCli(['init'], { env: { ...env, ROPEWALK_HOME: stranger } });
      expect([code, stderr]).toEqual([1, expect.stringContaining('this Temporal namespace belongs to deployment')]);
      // A namespace with nothing but its owner: another deployment must not even add search attributes.
      await prepareNamespace(connection, 'third', { retentionDays: 30, searchAttributes: [] });
      const client = new Client({ connection, namespace: 'third' });
      const other = { host: { hostId: 'host_other', deploymentId: 'dep_other' }, home: stranger };
      await claimNamespace(client, other, usualSettings.reconcile);
      const refused = await runCli(['init', '--namespace', 'third'], { env });
      expect(refused.stderr).toContain('belongs to deployment dep_other');
      const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: 'third' });
      expect(Object.keys(customAttributes ?? {})).not.toContain('RopewalkUser');
    } finally {
      await rm(stranger, { recursive: true, force: true });
    }
  });

  it('says what to do when no server is named, or it does not answer', async () => {
    const nowhere = await runCli(['init'], { env: { ROPEWALK_HOME: home, HOME: home, ROPEWALK_PROVIDERS: 'local' } });
    expect([nowhere.code, nowhere.stderr]).toEqual([1, expect.stringContaining('Set TEMPORAL_ADDRESS')]);
    const silent = await runCli(['init'], { env: { ...env, TEMPORAL_ADDRESS: '127.0.0.1:1' } });
    expect([silent.code, silent.stderr]).toEqual([1, expect.stringContaining('127.0.0.1:1 does not answer')]);
    await writeFile(join(home, 'host.json'), 'damaged');
    const damaged = await runCli(['init'], { env });
    expect([damaged.code, damaged.stderr]).toEqual([1, expect.stringContaining('host.json is damaged')]);
  });

  it('uses the settings that temporal-dev.yml has', async () => {
    expect(prepareSettings(await readDevConfig(defaultConfigPath))).toEqual(usualSettings);
  });
});
