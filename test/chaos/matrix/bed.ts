// One real stack that many lives share, with what disturbs it and what looks at it.
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { Client as TemporalClient, Connection } from '@temporalio/client';

import { createClient } from '../../../sdk/client.ts';
import type { Client } from '../../../sdk/client.ts';
import { makeDaskHome } from '../../support/dask.ts';
import { removeHome, startStack } from '../../support/stack.ts';
import type { TestStack } from '../../support/stack.ts';
import { faultFiles, faultsVariable, workersVariable } from './faults.ts';
import type { FaultFiles } from './faults.ts';
import { startOracle } from './oracle.ts';
import type { Oracle } from './oracle.ts';

export interface Bed {
  stack: TestStack;
  client: Client;
  temporal: TemporalClient;
  files: FaultFiles;
  oracle: Oracle;
  /** Where tasks append their runs, a directory for each job. */
  runs: string;
  violations: string[];
  close: () => Promise<void>;
}

export async function makeBed(workers: number): Promise<Bed> {
  const root = mkdtempSync(join(tmpdir(), 'ropewalk-matrix-'));
  const files = faultFiles(join(root, 'faults'));
  // The workspace that the stack makes for itself is not part of the matrix.
  files.writePlan('default', []);
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
    const stack = await startStack({
      home,
      overrides: { worker: { env, maxLocalInstances: 200 }, heal: { everySeconds: 5 } },
    });
    const connection = Connection.lazy({ address: stack.temporalAddress });
    const violations: string[] = [];
    const oracle = startOracle(home, (text) => violations.push(text));
    return {
      stack,
      client: createClient({ apiUrl: stack.apiUrl, token: stack.token }),
      temporal: new TemporalClient({ connection, namespace: stack.namespace }),
      files,
      oracle,
      runs,
      violations,
      close: async () => {
        await oracle.stop();
        await connection.close();
        await stack.stop().finally(clean);
      },
    };
  } catch (error) {
    await clean();
    throw error;
  }
}
