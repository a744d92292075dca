// A Dask client outside the cloud. The emulated EC2 gives instances a public address that differs from their private one, and
// forwards only connections that a security group allows: a wrong address, another port or a missing rule fails here.
import { rm } from 'node:fs/promises';
import { connect } from 'node:net';
import { connect as connectTls } from 'node:tls';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { createClient } from '../../sdk/client.ts';
import type { Client, Cluster, CreateCluster, Credentials } from '../../sdk/client.ts';
import { connectDask, daskPython, makeDaskHome } from '../support/dask.ts';
import { startEc2Stack } from '../support/ec2-stack.ts';
import type { Ec2Stack } from '../support/ec2-stack.ts';
import { eventually } from '../support/eventually.ts';

const machines = { workerVmTypes: ['m6i.large'], schedulerVmTypes: ['m6i.large'] };

describe('a Dask client outside the cloud', () => {
  let ec2: Ec2Stack;
  let client: Client;
  let home: string;
  beforeAll(async () => {
    home = await makeDaskHome();
    ec2 = await startEc2Stack({ home });
    const { apiUrl, token } = ec2.stack;
    client = createClient({ apiUrl, token, addressUrl: `${apiUrl}/nowhere` });
  });
  afterAll(async () => {
    await ec2?.stop();
    await rm(home, { recursive: true, force: true });
  });

  async function start(input: CreateCluster): Promise<Cluster> {
    const { number } = await client.clusters.create({ workers: 0, ...machines, ...input });
    return eventually(
      async () => {
        const seen = await client.clusters.get(number);
        if (seen.endedAt !== null) throw new Error(JSON.stringify(seen.reason));
        const isUp =
          typeof seen.dask?.schedulerAddress === 'string' && seen.dask.workersStarted === (input.workers ?? 0);
        return isUp ? seen : null;
      },
      { timeoutMs: 120_000 },
    );
  }

  it('connects by the public address and Dask’s port, computes, and sees a certificate for all addresses', async () => {
    const cluster = await start({ workers: 1, allowIngressFrom: '127.0.0.1, 2001:db8::/32' });
    const head = cluster.instances.find(({ role }) => role === 'head');
    expect(head?.publicAddress).toMatch(/^127\.78\./);
    expect(cluster.dask?.schedulerAddress).toBe(`tls://${head?.address}:8786`);
    const credentials = await client.clusters.credentials(cluster.number);
    expect(credentials.schedulerAddress).toBe(`tls://${head?.publicAddress}:8786`);
    const names = await namesOf(credentials);
    const dnsName = `ec2-${head?.publicAddress?.replaceAll('.', '-')}.compute-1.amazonaws.com`;
    for (const name of [head?.address, head?.publicAddress, dnsName]) expect(names).toContain(name);
    const dask = await connectDask(client, cluster.number, daskPython(home));
    try {
      expect(await dask.ask({ op: 'sum', n: 10 })).toEqual({ sum: 285 });
    } finally {
      await dask.close();
    }
    await client.clusters.stop(cluster.number);
  });

  it('is refused where the rule names others, and may use the private address and another port', async () => {
    const cluster = await start({
      allowIngressFrom: '203.0.113.7',
      schedulerPort: 9_786,
    });
    const { schedulerAddress } = await client.clusters.credentials(cluster.number);
    expect(schedulerAddress).toMatch(/^tls:\/\/127\.78\.\d+\.\d+:9786$/);
    expect(await reach(schedulerAddress)).toBe('ECONNRESET');
    await client.clusters.stop(cluster.number);

    const inside = await start({ useSchedulerPublicIp: false });
    const { schedulerAddress: own } = await client.clusters.credentials(inside.number);
    expect(own).toMatch(/^tls:\/\/127\.77\.\d+\.\d+:8786$/);
    await client.clusters.stop(inside.number);
    await eventually(async () => (await ec2.emulator.ledger()).live.length === 0);
  });
});

const parts = (address: string): { host: string; port: number } => {
  const { hostname: host, port } = new URL(address.replace('tls://', 'http://'));
  return { host, port: Number(port) };
};

async function namesOf({ schedulerAddress, ca, certificate: cert, key }: Credentials): Promise<string> {
  const socket = connectTls({ ...parts(schedulerAddress), ca, cert, key, checkServerIdentity: () => undefined });
  try {
    await new Promise((resolve, reject) => socket.once('secureConnect', resolve).once('error', reject));
    return socket.getPeerCertificate().subjectaltname ?? '';
  } finally {
    socket.destroy();
  }
}

/** `connected` once bytes could be exchanged; otherwise the code of the error. */
function reach(address: string): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect(parts(address));
    socket.once('data', () => resolve('connected'));
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    socket.once('close', () => resolve('closed'));
    socket.write('hello');
  });
}
