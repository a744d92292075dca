// Against a real embedded Temporal server: what a first start makes, and what a later one refuses.
import { Client, type Connection } from '@temporalio/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { parseDevConfig, prepareSettings } from '../../dev/config.ts';
import { type Home, openHome } from '../../dev/home.ts';
import { choosePorts } from '../../dev/ports.ts';
import { createSupervisor, type Supervisor } from '../../dev/supervisor.ts';
import { findTemporalBinary } from '../../dev/temporal-binary.ts';
import { embeddedTemporal, externalTemporal, temporalServer } from '../../dev/temporal.ts';
import { loadHost } from '../../ops/host.ts';
import { ensureDeployment } from '../../ops/init/deployment.ts';
import { prepareNamespace } from '../../ops/init/namespace.ts';
import { makeHome, removeHome } from '../support/stack.ts';

const config = parseDevConfig(
  [
    'temporal: { version: 1.9.1, logLevel: never, sqlitePragmas: { journal_mode: wal }, dynamicConfig: { limit.maxIDLength: 999 } }',
    'namespace: { name: ropewalk, retentionDays: 30 }',
    'searchAttributes: [RopewalkWorkspace, RopewalkUser]',
    'worker: {}',
    'api: {}',
    'ports: { temporal: auto, ui: auto, api: auto }',
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

describe('the deployment', () => {
  it('is made once, and belongs to the home that made it', async () => {
    const host = await loadHost(home.path);
    expect(await loadHost(home.path)).toEqual(host);
    await Promise.all([ensureDeployment(client, host, home.path), ensureDeployment(client, host, home.path)]);
    const { runId } = await client.workflow.getHandle('deployment').describe();

    const stranger = { hostId: 'host_b', deploymentId: 'dep_b' };
    await expect(ensureDeployment(client, stranger, '/other')).rejects.toThrow(
      `belongs to deployment ${host.deploymentId}, and /other to deployment dep_b; nothing was touched`,
    );
    await ensureDeployment(client, host, home.path);
    expect((await client.workflow.getHandle('deployment').describe()).runId).toBe(runId);
  });

  it('is not made anew when it was ended from outside', async () => {
    const host = await loadHost(home.path);
    await ensureDeployment(client, host, home.path);
    await client.workflow.getHandle('deployment').terminate('test');
    await expect(ensureDeployment(client, host, home.path)).rejects.toThrow('has ended (TERMINATED)');
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
  });
});
