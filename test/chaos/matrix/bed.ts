// One real stack that many lives share, with the nemesis that disturbs it and the oracle that observes it.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Client as TemporalClient, Connection } from '@temporalio/client';
import { z } from 'zod';

import { createClient } from '../../../sdk/client.ts';
import type { Client } from '../../../sdk/client.ts';
import { makeDaskHome } from '../../support/dask.ts';
import { read } from '../../support/kills.ts';
import { removeHome } from '../../support/stack.ts';
import type { TestStack } from '../../support/stack.ts';
import { faultFiles, faultsVariable, workersVariable } from './faults.ts';
import type { FaultFiles } from './faults.ts';
import { startAwsGround } from './ground-aws.ts';
import { startGcpGround } from './ground-gcp.ts';
import { startLocalGround } from './ground-local.ts';
import type { Ground } from './ground.ts';
import type { Asked } from './ledger.ts';
import { startOracle } from './oracle.ts';
import type { Oracle } from './oracle.ts';

const grounds = { local: startLocalGround, aws: startAwsGround, gcp: startGcpGround } as const;
export type GroundName = keyof typeof grounds;
export const isGround = (name: string): name is GroundName => Object.hasOwn(grounds, name);

export interface Bed {
  ground: Ground;
  stack: TestStack;
  deploymentId: string;
  client: Client;
  temporal: TemporalClient;
  files: FaultFiles;
  oracle: Oracle;
  /** The tasks append their runs here, in one directory for each job. */
  runs: string;
  violations: string[];
  /** Records the number of slots that a cluster requests from now on; the first call counts from its beginning. */
  ask: (cluster: number, count: number) => void;
  asked: Asked[];
  close: () => Promise<void>;
}

export async function makeBed(on: GroundName, workers: number): Promise<Bed> {
  const root = mkdtempSync(join(tmpdir(), 'ropewalk-matrix-'));
  const files = faultFiles(join(root, 'faults'));
  // The workspace that the stack creates for itself and the sweeps that it schedules are not part of the matrix.
  for (const key of ['default', 'local', 'provider']) files.writePlan(key, []);
  const runs = join(root, 'runs');
  mkdirSync(runs);
  const home = await makeDaskHome();
  const clean = async (): Promise<void> => {
    await removeHome(home);
    rmSync(root, { recursive: true, force: true });
  };
  try {
    const env = {
      NODE_OPTIONS: `--import=${fileURLToPath(new URL('nurse.ts', import.meta.url))}`,
      [faultsVariable]: join(root, 'faults'),
      [workersVariable]: String(workers),
    };
    const ground = await grounds[on]({
      home,
      overrides: { worker: { env, maxLocalInstances: 200 }, stuckWorkflows: { everySeconds: 5 } },
    });
    const { stack } = ground;
    const connection = Connection.lazy({ address: stack.temporalAddress });
    const violations: string[] = [];
    const asked: Asked[] = [];
    const oracle = startOracle(ground, (text) => violations.push(text));
    return {
      ground,
      stack,
      deploymentId: z.object({ deploymentId: z.string() }).parse(read(join(home, 'host.json'))).deploymentId,
      client: createClient({ apiUrl: stack.apiUrl, token: stack.token }),
      temporal: new TemporalClient({ connection, namespace: stack.namespace }),
      files,
      oracle,
      runs,
      violations,
      asked,
      ask: (cluster, count) => {
        const known = asked.find((each) => each.cluster === cluster);
        if (known === undefined) asked.push({ cluster, slots: [{ fromMs: 0, count }] });
        else known.slots.push({ fromMs: Date.now(), count });
      },
      close: async () => {
        await oracle.stop();
        await connection.close();
        await ground.close().finally(clean);
      },
    };
  } catch (error) {
    await clean();
    throw error;
  }
}
