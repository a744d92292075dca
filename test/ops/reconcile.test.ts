// `ropewalk reconcile` against a real Temporal server: its start, its output, its exit codes.
import { Client, type Connection } from '@temporalio/client';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { controlQueue } from '../../contracts/flush.ts';
import type { ReconcileReport } from '../../contracts/reconcile.ts';
import { defaultConfigPath, readDevConfig } from '../../dev/config.ts';
import { type Home, openHome } from '../../dev/home.ts';
import { choosePorts } from '../../dev/ports.ts';
import { createSupervisor, type Supervisor } from '../../dev/supervisor.ts';
import { findTemporalBinary } from '../../dev/temporal-binary.ts';
import { embeddedTemporal, temporalServer } from '../../dev/temporal.ts';
import { claimNamespace } from '../../ops/init/claim.ts';
import { prepareNamespace } from '../../ops/init/namespace.ts';
import { printReport } from '../../ops/reconcile.ts';
import { type CliResult, runCli } from '../cli/run-cli.ts';
import { makeHome, removeHome } from '../support/stack.ts';

Runtime.install({ logger: new DefaultLogger('ERROR') });

describe('ropewalk reconcile', () => {
  const timing = { everyMs: 300_000, graceMs: 7_000 };
  let home: Home;
  let supervisor: Supervisor;
  let connection: Connection;
  let native: NativeConnection;
  let address: string;
  const stops: (() => Promise<void>)[] = [];
  beforeAll(async () => {
    home = await openHome(await makeHome());
    supervisor = createSupervisor({ runDir: home.runDir, say: () => undefined, onSpawn: () => undefined });
    const config = await readDevConfig(defaultConfigPath);
    const ports = await choosePorts(home.path, { temporal: 'auto', ui: 'auto', api: 'auto', dashboards: 'auto' }, true);
    const temporal = embeddedTemporal(ports, config);
    ({ address } = temporal);
    connection = temporal.connect();
    const binary = await findTemporalBinary({ env: process.env, say: () => undefined });
    const env = { ROPEWALK_HOME: home.path };
    await supervisor.start(temporalServer({ binary, home, ports, config, env, connection }));
    native = await NativeConnection.connect({ address });
    await prepareNamespace(connection, 'idle', { retentionDays: 1, searchAttributes: [] });
    await prepare('well', 'dep_well');
    await prepare('refused', 'dep_refused');
  });
  afterAll(async () => {
    for (const stop of stops) await stop();
    await native?.close();
    await connection?.close();
    await supervisor?.stop('temporal');
    await removeHome(home.path);
  });

  /** A namespace with its schedule, and a Temporal worker with the stub. */
  async function prepare(namespace: string, deploymentId: string): Promise<void> {
    await prepareNamespace(connection, namespace, { retentionDays: 1, searchAttributes: [] });
    const client = new Client({ connection, namespace });
    await claimNamespace(client, { host: { hostId: 'host_x', deploymentId }, home: home.path }, timing);
    const workflowsPath = new URL('reconcile-stub.ts', import.meta.url).pathname;
    const worker = await Worker.create({ connection: native, namespace, taskQueue: controlQueue, workflowsPath });
    const run = worker.run();
    stops.push(async () => {
      worker.shutdown();
      await run;
    });
  }

  const reconcile = (...words: string[]): Promise<CliResult> =>
    runCli(['reconcile', ...words], {
      env: { ROPEWALK_HOME: home.path, HOME: home.path, TEMPORAL_ADDRESS: address },
    });

  it('runs the workflow of the schedule with its settings, and ends with 1 when something is unknown', async () => {
    const { code, stdout, stderr } = await reconcile('--namespace', 'well');
    expect([code, stdout.trim().split('\n')]).toEqual([
      1,
      ['compared 4 open rows with workflows', '  job/1  ended: its workflow is gone'],
    ]);
    expect(stderr).toBe('  could not be compared: job/2, with a grace period of 7000 ms\n');
  });

  it('changes nothing on a dry run, and prints the report for programs', async () => {
    const { code, stdout } = await reconcile('--namespace', 'well', '--dry-run', '--format', 'json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ dryRun: true, refusal: null, finalized: ['job/1'], unknown: [] });
  });

  it('ends with 1 when nothing was compared', async () => {
    const { code, stdout, stderr } = await reconcile('--namespace', 'refused', '--dry-run');
    expect([code, stdout]).toEqual([1, '']);
    expect(stderr).toBe('nothing was compared: the database belongs to another deployment\n');
  });

  it('says what is missing: the schedule, or a Temporal worker', async () => {
    for (const command of ['reconcile', 'sweep']) {
      const env = { ROPEWALK_HOME: home.path, HOME: home.path, TEMPORAL_ADDRESS: address };
      const { code, stderr } = await runCli([command, '--namespace', 'absent'], { env });
      expect([code, stderr]).toEqual([1, expect.stringContaining('has no namespace absent')]);
    }
    const bare = await reconcile('--namespace', 'idle');
    expect([bare.code, bare.stderr]).toEqual([1, expect.stringContaining('has no schedule "reconcile"')]);
    const claimant = { host: { hostId: 'host_x', deploymentId: 'dep_idle' }, home: home.path };
    await claimNamespace(new Client({ connection, namespace: 'idle' }), claimant, timing);
    const idle = await reconcile('--namespace', 'idle');
    expect([idle.code, idle.stderr]).toEqual([1, expect.stringContaining('no Temporal worker polls this namespace')]);
  });
});

describe('the report', () => {
  const report: ReconcileReport = {
    ...{ refusal: null, dryRun: false, compared: 3, unknown: [] },
    ...{ finalized: ['job/1'], adopted: ['cluster/2'], refreshed: ['job/4'], waiting: ['job/3'] },
  };
  const linesOf = (changes: Partial<ReconcileReport>): string[] => {
    const lines: string[] = [];
    const out = (line: string): void => void lines.push(line);
    printReport({ ...report, ...changes }, 60_000, { out, err: out, json: () => undefined });
    return lines;
  };

  it('names each row with what became of it, and when those that wait are ended', () => {
    expect(linesOf({})).toEqual([
      'compared 3 open rows with workflows',
      '  job/1  ended: its workflow is gone',
      '  cluster/2  added: its workflow had no row',
      '  job/4  updated: its row was older',
      '  job/3  waiting: its workflow has been missing for a short time',
      '  rows that wait are ended by a run 60 s or more after the one that found them',
    ]);
    expect(linesOf({ dryRun: true, waiting: [] })).toEqual([
      'compared 3 open rows with workflows',
      '  job/1  would be ended: its workflow is gone',
      '  cluster/2  would be added: its workflow had no row',
      '  job/4  would be updated: its row was older',
    ]);
  });
});
