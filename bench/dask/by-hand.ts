// The same without Ropewalk: `dask scheduler` and two `dask worker` with prepared certificates, from the same environment.
// Either one after the other, as at two prompts, or all at once on a port chosen beforehand.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

import { createClusterCa, issueLeafAndKey } from '../../platform/pki/cluster-ca.ts';
import { freePort } from '../../test/support/free-port.ts';
import type { Driver, FirstResult, TlsPaths } from './driver.ts';

export interface HandInput {
  python: string;
  directory: string;
  driver: Driver;
  workers: number;
  tls: TlsPaths;
  /** Start the workers without waiting for the scheduler. */
  atOnce: boolean;
}

export interface HandTimes extends FirstResult {
  asked: number;
  scheduler: number;
}

export async function runByHand({ python, directory, driver, workers, tls, atOnce }: HandInput): Promise<HandTimes> {
  const env = { ...environment(tls), PATH: process.env['PATH'], HOME: directory };
  const port = await freePort();
  const address = `tls://127.0.0.1:${port}`;
  const children: ChildProcess[] = [];
  const start = (words: string[]): ChildProcess => {
    // A separate group: nannies' children end with them.
    const child = spawn(python, ['-m', 'dask', ...words], { env, cwd: directory, detached: true });
    children.push(child);
    return child;
  };
  const startWorkers = (): void => {
    for (let index = 0; index < workers; index += 1) {
      const options = ['--host', '127.0.0.1', '--protocol', 'tls', '--dashboard-address', '127.0.0.1:0'];
      drain(start(['worker', address, ...options, '--local-directory', join(directory, `worker-${index}`)]));
    }
  };
  const asked = Date.now();
  try {
    const options = ['--host', '127.0.0.1', '--port', String(port), '--protocol', 'tls'];
    const scheduler = start(['scheduler', ...options, '--dashboard-address', '127.0.0.1:0']);
    if (atOnce) startWorkers();
    await line(scheduler, /Scheduler at:/);
    const listening = Date.now();
    if (!atOnce) startWorkers();
    const times = await driver.connect({ ...tls, address, workers });
    return { ...times, asked, scheduler: listening };
  } finally {
    await Promise.all(children.map(end));
  }
}

/** One leaf instead of three, because any certificate of the authority works here. */
export async function writeTls(directory: string): Promise<TlsPaths> {
  await mkdir(directory, { recursive: true, mode: 0o700 });
  const ca = await createClusterCa({ cluster: 'by-hand', validDays: 1 });
  const leaf = await issueLeafAndKey({
    ca,
    role: 'scheduler',
    subject: 'by-hand',
    addresses: ['127.0.0.1'],
    validDays: 1,
  });
  const write = async (name: string, text: string): Promise<string> => {
    const path = join(directory, name);
    await writeFile(path, text, { mode: 0o600 });
    return path;
  };
  return {
    ca: await write('ca.pem', ca.certificatePem),
    certificate: await write('certificate.pem', leaf.certificatePem),
    key: await write('key.pem', leaf.keyPem.reveal()),
  };
}

function environment({ ca, certificate, key }: TlsPaths): Record<string, string> {
  const roles = ['SCHEDULER', 'WORKER', 'CLIENT'].flatMap((role) => [
    [`DASK_DISTRIBUTED__COMM__TLS__${role}__CERT`, certificate],
    [`DASK_DISTRIBUTED__COMM__TLS__${role}__KEY`, key],
  ]);
  return {
    DASK_DISTRIBUTED__COMM__REQUIRE_ENCRYPTION: 'True',
    DASK_DISTRIBUTED__COMM__TLS__CA_FILE: ca,
    ...Object.fromEntries(roles),
  };
}

/** Dask's log goes to stderr. */
function line(child: ChildProcess, pattern: RegExp): Promise<void> {
  const { stderr } = child;
  if (stderr === null) throw new Error('no output');
  child.stdout?.resume();
  let words = '';
  return new Promise((resolve, reject) => {
    createInterface({ input: stderr }).on('line', (text) => {
      words = `${words}\n${text}`.slice(-3000);
      if (pattern.test(text)) resolve();
    });
    child.once('exit', () => reject(new Error(`it ended:${words}`)));
  });
}

function drain(child: ChildProcess): void {
  child.stdout?.resume();
  child.stderr?.resume();
}

async function end(child: ChildProcess): Promise<void> {
  const { pid } = child;
  if (pid === undefined) return;
  const exited = new Promise((resolve) => child.once('close', resolve));
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {
    return;
  }
  await exited;
}
