// Against a real embedded Temporal server: how a deployment prepares and claims its namespace.
import { Client, type Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { controlQueue } from '../../contracts/flush.ts';
import { parseDevConfig, prepareSettings } from '../../dev/config.ts';
import { type Home, openHome } from '../../dev/home.ts';
import { choosePorts } from '../../dev/ports.ts';
import { createSupervisor, type Supervisor } from '../../dev/supervisor.ts';
import { findTemporalBinary } from '../../dev/temporal-binary.ts';
import { embeddedTemporal, externalTemporal, temporalServer } from '../../dev/temporal.ts';
import { loadHost } from '../../ops/host.ts';
import { claimNamespace } from '../../ops/init/claim.ts';
import { prepareNamespace } from '../../ops/init/namespace.ts';
import { makeHome, removeHome } from '../support/stack.ts';
import { namespaceOwner } from '../../platform/namespace-claim.ts';

const config = parseDevConfig(
  [
    'temporal: { version: 1.9.1, logLevel: never, sqlitePragmas: { journal_mode: wal }, dynamicConfig: { limit.maxIDLength: 999 } }',
    'namespace: { name: ropewalk, retentionDays: 30 }',
    'searchAttributes: [RopewalkWorkspace, RopewalkUser]',
    'worker: {}',
    'api: {}',
    'ports: { temporal: auto, ui: auto, api: auto, dashboards: auto }',
  ].join('\n'),
  'test',
);
let home: Home;
let supervisor: Supervisor;
let connection: Connection;
let client: Client;

beforeAll(async () => {
  home = await openHome(await makeHome());
  supervisor = createSupervisor({ runDir: home.runDir, say: () => undefined, onSpawn: () => undefined });
  const ports = await choosePorts(home.path, config.ports, true);
  connection = embeddedTemporal(ports, config).connect();
  client = new Client({ connection, namespace: 'ropewalk' });
  const binary = await findTemporalBinary({ env: process.env, say: () => undefined });
  await supervisor.start(
    temporalServer({ binary, home, ports, config, env: { ROPEWALK_HOME: home.path }, connection }),
  );
  await prepareNamespace(connection, 'ropewalk', prepareSettings(config));
});
afterAll(async () => {
  await connection.close();
  await supervisor.stop('temporal');
  await removeHome(home.path);
});

describe('the namespace', () => {
  it('has its retention and its search attributes, and may be prepared again', async () => {
    await prepareNamespace(connection, 'ropewalk', {
      ...prepareSettings(config),
      searchAttributes: ['RopewalkUser', 'RopewalkStatus'],
    });
    const { config: found } = await connection.workflowService.describeNamespace({ namespace: 'ropewalk' });
    expect(Number(found?.workflowExecutionRetentionTtl?.seconds)).toBe(30 * 86_400);
    const { customAttributes } = await connection.operatorService.listSearchAttributes({ namespace: 'ropewalk' });
    expect(Object.keys(customAttributes ?? {})).toEqual(
      expect.arrayContaining(['RopewalkWorkspace', 'RopewalkUser', 'RopewalkStatus']),
    );
  });
});

describe('a namespace', () => {
  const timing = { everyMs: 300_000, graceMs: 60_000 };

  it('is claimed once, by one of two deployments that claim it at the same moment', async () => {
    const host = await loadHost(home.path);
    expect(await loadHost(home.path)).toEqual(host);
    const claimants = [
      { host, home: home.path },
      { host: { hostId: 'host_b', deploymentId: 'dep_b' }, home: '/other' },
    ];
    expect(await namespaceOwner(client)).toBeNull();
    const outcomes = await Promise.allSettled(claimants.map((claimant) => claimNamespace(client, claimant, timing)));
    expect(outcomes.map(({ status }) => status).toSorted()).toEqual(['fulfilled', 'rejected']);
    const winner = outcomes.findIndex(({ status }) => status === 'fulfilled');
    expect(await namespaceOwner(client)).toBe(claimants[winner]?.host.deploymentId);

    for (const [index, claimant] of claimants.entries()) {
      const again = claimNamespace(client, claimant, timing);
      if (index === winner) expect(await again).toEqual([]);
      else await expect(again).rejects.toThrow(/this Temporal namespace belongs to deployment .*; nothing was changed/);
    }
  });

  it('keeps its owner when its schedule gets other settings', async () => {
    const owner = (await namespaceOwner(client)) ?? '';
    const claimant = { host: { hostId: 'host_x', deploymentId: owner }, home: home.path };
    expect(await claimNamespace(client, claimant, { everyMs: 60_000, graceMs: 5_000 })).toEqual([
      'changed the schedule reconcile, every 60 s',
    ]);
    expect(await namespaceOwner(client)).toBe(owner);
    const { action, policies } = await client.schedule.getHandle('reconcile').describe();
    expect([action.workflowType, action.taskQueue, policies.overlap]).toEqual(['reconcile', controlQueue, 'SKIP']);
    expect(action.args).toEqual([{ deploymentId: owner, graceMs: 5_000, dryRun: false }]);
  });

  it('that does not exist belongs to no deployment', async () => {
    expect(await namespaceOwner(new Client({ connection, namespace: 'absent' }))).toBeNull();
  });
});

describe('a Temporal server that runs elsewhere', () => {
  it('is used when the environment names one, and only then', () => {
    const elsewhere = externalTemporal(
      { TEMPORAL_ADDRESS: 'temporal.example:7233', TEMPORAL_NAMESPACE: 'jobs', TEMPORAL_CONFIG_FILE: '/nowhere' },
      config,
    );
    expect(elsewhere).toMatchObject({ isEmbedded: false, address: 'temporal.example:7233', namespace: 'jobs' });
    expect(elsewhere?.env).toMatchObject({ TEMPORAL_ADDRESS: 'temporal.example:7233', TEMPORAL_NAMESPACE: 'jobs' });
    expect(externalTemporal({ TEMPORAL_CONFIG_FILE: '/nowhere' }, config)).toBeNull();
    expect(externalTemporal({ TEMPORAL_ADDRESS: '', TEMPORAL_CONFIG_FILE: '/nowhere' }, config)).toBeNull();
  });
});
