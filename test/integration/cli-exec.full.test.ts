// `ropewalk cluster exec` with a real Dask: a scheduler and a worker with mutual TLS by the cluster's own authority, and scripts
// whose bare `Client()` finds them. Only the API is a stand-in.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { environment } from '../builders/environment.ts';
import { defaultRequirements } from '../../agent/runtimes/environment/default-requirements.ts';
import { ensureEnvironment } from '../../agent/runtimes/environment/environment.ts';
import { createClusterCa, issueLeafAndKey } from '../../platform/pki/cluster-ca.ts';
import type { CertificateRole, ClusterCa } from '../../platform/pki/cluster-ca.ts';
import type { Credentials } from '../../schema/clusters.ts';
import { startCli } from '../cli/run-cli.ts';
import type { RunningCli } from '../cli/run-cli.ts';
import { aCluster, startStandIn } from '../sdk/stand-in-api.ts';
import type { StandIn } from '../sdk/stand-in-api.ts';
import { eventually } from '../support/eventually.ts';

const cacheDir = fileURLToPath(new URL('../../node_modules/.cache/ropewalk/python', import.meta.url));

let directory: string;
/** Only the CLI puts files here. */
let temporary: string;
let python: string;
let ca: ClusterCa;
let api: StandIn;
let credentials: Credentials;
const processes: ChildProcess[] = [];
let output = '';

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'ropewalk-cli-exec-'));
  temporary = join(directory, 'tmp');
  // The CLI finds and builds environments here: `cache` of the Ropewalk home.
  await symlink(cacheDir, join(directory, 'cache'));
  await mkdir(temporary);
  const request = { cacheDir, requirements: defaultRequirements, pythonPath: 'python3', environment: process.env };
  python = (await ensureEnvironment(request)).pythonPath;
  ca = await createClusterCa({ cluster: 'blue', validDays: 1 });
  const address = await startScheduler();
  await startDask('worker', [address, '--no-nanny', '--nthreads', '1', '--local-directory', directory]);
  credentials = await credentialsOf(ca, address);
  api = await startStandIn(({ path }) => ({ json: path.endsWith('/credentials') ? credentials : aCluster() }));
});

afterAll(async () => {
  // Workers end by themselves after their scheduler; no result is worth a wait.
  for (const child of processes) {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  }
  await api?.close();
  await rm(directory, { recursive: true, force: true });
});

async function startScheduler(): Promise<string> {
  const file = join(directory, 'scheduler.json');
  const tls = ['--protocol', 'tls', '--host', '127.0.0.1', '--port', '0'];
  const scheduler = await startDask('scheduler', [...tls, '--scheduler-file', file]);
  const address = await eventually(async () => {
    if (scheduler.exitCode !== null) return 'ended';
    const about: { address: string } = JSON.parse(await readFile(file, 'utf8'));
    return about.address;
  });
  if (address === 'ended') throw new Error(`the scheduler ended: ${output}`);
  expect(address).toMatch(/^tls:\/\/127\.0\.0\.1:\d+$/);
  return address;
}

async function startDask(role: 'scheduler' | 'worker', words: string[]): Promise<ChildProcess> {
  const name = `DASK_DISTRIBUTED__COMM__TLS__${role.toUpperCase()}`;
  const { certificatePem, keyPem } = await leaf(ca, role, ['127.0.0.1']);
  const write = async (file: string, content: string): Promise<string> => {
    const path = join(directory, file);
    await writeFile(path, content, { mode: 0o600 });
    return path;
  };
  const child = spawn(python, ['-m', 'dask', role, ...words, '--dashboard-address', '127.0.0.1:0'], {
    cwd: directory,
    env: {
      PATH: process.env['PATH'],
      HOME: directory,
      DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION: 'True',
      DASK_DISTRIBUTED__COMM__TLS__CA_FILE: await write('ca.pem', ca.certificatePem),
      [`${name}__CERT`]: await write(`${role}.pem`, certificatePem),
      [`${name}__KEY`]: await write(`${role}.key`, keyPem),
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  processes.push(child);
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text: Buffer) => (output += text.toString()));
  return child;
}

async function leaf(
  authority: ClusterCa,
  role: CertificateRole,
  addresses: string[],
): Promise<{ certificatePem: string; keyPem: string }> {
  const made = await issueLeafAndKey({ ca: authority, role, subject: `test ${role}`, addresses, validDays: 1 });
  return { certificatePem: made.certificatePem, keyPem: made.keyPem.reveal() };
}

/** As the API issues them. */
async function credentialsOf(authority: ClusterCa, schedulerAddress: string): Promise<Credentials> {
  const { certificatePem, keyPem } = await leaf(authority, 'client', []);
  const expiresAt = new Date(Date.now() + 86_400_000).toISOString();
  const tls = { ca: authority.certificatePem, certificate: certificatePem, key: keyPem };
  return { schedulerAddress, ...tls, expiresAt, environment: environment() };
}

async function exec(script: string, command = python): Promise<RunningCli> {
  const file = join(directory, 'script.py');
  await writeFile(file, script);
  const home = { HOME: directory, ROPEWALK_HOME: directory };
  return startCli(['cluster', 'exec', '7', '--', command, file], {
    cwd: directory,
    env: { ROPEWALK_API_URL: api.url, ROPEWALK_TOKEN: 'rw_default_abc-x', TMPDIR: temporary, ...home },
  });
}

/** Its output; after a failure, an error with all known details. */
async function printed(cli: RunningCli): Promise<string> {
  const { code, stdout, stderr } = await cli.result;
  if (code !== 0) throw new Error(`exit code ${code}\n${stderr}\n${output}`);
  return stdout;
}

describe('a script under cluster exec', () => {
  it('connects with a bare Client(), and computes', async () => {
    const cli = await exec(`
from distributed import Client
with Client() as client:
    print(client.scheduler.address, client.submit(sum, range(10)).result())
`);
    expect(await printed(cli)).toBe(`${credentials.schedulerAddress} 45\n`);
    expect(await readdir(temporary)).toEqual([]);
  });

  it("runs in the cluster's environment when the Python on the PATH has no distributed", async () => {
    const cli = await exec(
      `
import sys
from distributed import Client
with Client() as client:
    print(sys.prefix, client.submit(sum, range(10)).result())
`,
      'python3',
    );
    const environment = python.replace(cacheDir, join(directory, 'cache'));
    expect(await printed(cli)).toBe(`${dirname(dirname(environment))} 45\n`);
    expect(cli.stderr()).toMatch(/^note: python3 has no distributed [\d.]+; using the cluster's environment \(.*\)\n$/);
  });

  it('connects in asynchronous code too', async () => {
    const cli = await exec(`
import asyncio
from distributed import Client
async def main():
    async with Client(asynchronous=True) as client:
        print(await client.submit(sum, range(11)))
asyncio.run(main())
`);
    expect(await printed(cli)).toBe('55\n');
  });

  it('is refused with a certificate of another authority', async () => {
    const own = credentials;
    const foreign = await credentialsOf(await createClusterCa({ cluster: 'red', validDays: 1 }), own.schedulerAddress);
    credentials = { ...foreign, ca: own.ca };
    try {
      const cli = await exec('from distributed import Client\nClient(timeout=3)\nprint("connected")\n');
      const { code, stdout, stderr } = await cli.result;
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(/TimeoutError|OSError|SSL/);
    } finally {
      credentials = own;
    }
    expect(await readdir(temporary)).toEqual([]);
  });

  it('gets Ctrl-C as its own, and leaves no key behind', async () => {
    const cli = await exec(`
import time
from distributed import Client
with Client() as client:
    future = client.submit(time.sleep, 0.01)
    future.result()
    print('running', flush=True)
    try:
        time.sleep(600)
    except KeyboardInterrupt:
        print('interrupted', flush=True)
        raise SystemExit(5)
`);
    try {
      await eventually(() => cli.stdout().includes('running'));
      expect(await readdir(temporary)).toHaveLength(1);
      cli.child.kill('SIGINT');
      const { code, stdout } = await cli.result;
      expect({ code, stdout }).toEqual({ code: 5, stdout: 'running\ninterrupted\n' });
      expect(await readdir(temporary)).toEqual([]);
    } finally {
      cli.child.kill('SIGTERM');
    }
  });
});
