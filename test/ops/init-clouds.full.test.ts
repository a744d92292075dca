// `ropewalk init` with the settings of a deployment whose instances run: a copy of them on another machine must not end those.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { Client, Connection } from '@temporalio/client';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';

import { namespaceOwner } from '../../platform/namespace-claim.ts';
import { type CliResult, runCli } from '../cli/run-cli.ts';
import { freshOwner } from '../providers/launch-requests.ts';
import { clouds, type StartedCloud } from '../support/clouds.ts';
import { makeHome, removeHome } from '../support/stack.ts';
import { startTemporal, type TestTemporal } from '../support/temporal-server.ts';

const nothing = { none: async () => undefined };
const deploymentId = 'dep_live';
let temporal: TestTemporal;
let connection: Connection;
beforeAll(async () => {
  temporal = await startTemporal({ control: nothing, instances: nothing });
  connection = await Connection.connect({ address: temporal.address });
});
afterAll(async () => {
  await connection?.close();
  await temporal?.stop();
});

describe.each(clouds)('ropewalk init with settings of $title', (tested) => {
  const namespace = `copied-${tested.name}`;
  let cloud: StartedCloud;
  let home: string;
  let env: Record<string, string>;
  beforeEach(async () => {
    cloud = await tested.start();
    home = await makeHome();
    const settings = join(home, 'cloud.json');
    await writeFile(settings, JSON.stringify({ ...tested.file, deployment: deploymentId }));
    env = {
      ...{ ROPEWALK_HOME: home, HOME: home, TEMPORAL_ADDRESS: temporal.address, TEMPORAL_NAMESPACE: namespace },
      ...tested.environment(cloud.emulator, settings),
    };
  });
  afterEach(async () => {
    await cloud.close();
    await removeHome(home);
  });
  const ropewalk = (...words: string[]): Promise<CliResult> => runCli(words, { env });
  const owner = (): Promise<string | null> => namespaceOwner(new Client({ connection, namespace }));

  it('refuses while instances of the deployment run, again and again, and goes on after destroy', async () => {
    await cloud.provider.launch(cloud.workersRequest({ ...freshOwner(), deploymentId }, 2));
    for (const attempt of [1, 2]) {
      const { code, stderr } = await ropewalk('init');
      expect([attempt, code, stderr]).toEqual([
        attempt,
        1,
        expect.stringContaining(
          `Deployment ${deploymentId} has 2 instances in ${tested.region}, and this Temporal namespace`,
        ),
      ]);
      expect(stderr).toContain('ropewalk destroy --by-tag');
      expect(await owner()).toBeNull();
    }
    const { live } = await cloud.emulator.ledger();
    expect(live).toHaveLength(2);

    expect((await ropewalk('destroy', '--by-tag', '--yes')).code).toBe(0);
    const { code, stderr } = await ropewalk('init');
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('was not searched')]);
    expect(await owner()).toBe(deploymentId);

    // From here on the namespace knows the instances.
    await cloud.provider.launch(cloud.workersRequest({ ...freshOwner(), deploymentId }, 1));
    expect((await ropewalk('init')).code).toBe(0);
  }, 120_000);

  it('names a cloud that it could not search', async () => {
    await cloud.emulator.send({
      op: 'fault',
      fault: { action: tested.listCall, times: 20, kind: 'error', code: 'UnauthorizedOperation', status: 403 },
    });
    env['TEMPORAL_NAMESPACE'] = `unsearched-${tested.name}`;
    const { code, stderr } = await ropewalk('init');
    expect([code, stderr]).toEqual([
      0,
      expect.stringContaining(`${tested.region} was not searched for instances of deployment ${deploymentId}`),
    ]);
  }, 120_000);
});
