// A Ropewalk cluster, requested with the TypeScript SDK and used by the same Python program.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import type { Client, Cluster, Credentials } from '../../sdk/client.ts';
import { startCluster } from '../../sdk/client.ts';
import { eventually } from '../../test/support/eventually.ts';
import type { Driver, FirstResult } from './driver.ts';

export interface OurTimes extends FirstResult {
  asked: number;
  admitted: number;
  /** The times at which the last of its agents had started, and had registered. */
  launched: number;
  registered: number;
  scheduler: number;
  /** The scheduler knew the last worker. */
  started: number;
  /** The program had its connection data. */
  credentials: number;
}

export interface OurInput {
  client: Client;
  apiUrl: string;
  token: string;
  driver: Driver;
  directory: string;
  workers: number;
}

export async function runOurs(input: OurInput): Promise<OurTimes> {
  const { client, apiUrl, token, driver, workers } = input;
  let admitted = 0;
  const asked = Date.now();
  const cluster = await startCluster({
    apiUrl,
    token,
    workers,
    onCreated: () => (admitted = Date.now()),
  });
  try {
    const given = await cluster.credentials();
    const credentials = Date.now();
    const paths = await writeCredentials(input.directory, given);
    const times = await driver.connect({ ...paths, address: given.schedulerAddress, workers });
    const view = await eventually(
      async () => {
        const found = await cluster.get();
        return found.dask?.workersStarted === workers ? found : null;
      },
      { timeoutMs: 30_000 },
    );
    return { ...times, asked, admitted, credentials, ...stages(view) };
  } finally {
    await cluster.close();
    // The next round must start on an equally idle machine.
    await client.clusters.waitForEnd(cluster.number);
  }
}

function stages({ instances }: Cluster): Pick<OurTimes, 'launched' | 'registered' | 'scheduler' | 'started'> {
  const at = (time: string | null | undefined): number => (time ? Date.parse(time) : 0);
  const last = (times: number[]): number => times.reduce((a, b) => Math.max(a, b), 0);
  const heads = instances.filter(({ role }) => role === 'head');
  const others = instances.filter(({ role }) => role !== 'head');
  return {
    launched: last(instances.map(({ launchedAt }) => at(launchedAt))),
    registered: last(instances.map(({ registeredAt }) => at(registeredAt))),
    scheduler: last(heads.map(({ process }) => at(process?.at))),
    started: last(others.map(({ process }) => at(process?.at))),
  };
}

export async function writeCredentials(
  directory: string,
  given: Credentials,
): Promise<{ ca: string; certificate: string; key: string }> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const file = async (name: string, text: string): Promise<string> => {
    const path = join(directory, name);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };
  return {
    ca: await file('ca.pem', given.ca),
    certificate: await file('certificate.pem', given.certificate),
    key: await file('key.pem', given.key),
  };
}
