// Machines of the emulated EC2 that boot from their user data alone, under systemd (boot-machine.sh). Needs root, a network
// namespace of the test's own, because agents set rules of the packet filter, and two programs of most Linux machines.
import { execFile, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { readFile, rename } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { ensureEnvironment } from '../../agent/runtimes/environment/environment.ts';
import { withDefaults } from '../../agent/runtimes/environment/with-defaults.ts';
import type { MachineOptions } from '../emulator/machines.ts';
import { node24 } from './stack.ts';

const cache = join(import.meta.dirname, '../../node_modules/.cache/ropewalk');
/** Of a system's service: the Python that it finds is one that every user may run. */
export const systemPath = '/usr/local/bin:/usr/bin:/bin';
/** Apart from that of other tests: an environment belongs to its interpreter. */
export const sharedEnvironments = join(cache, 'system-python');
const archiveName = `node-${process.version}-linux-${process.arch}.tar.xz`;
const archivePath = join(cache, archiveName);

const needs = [
  'test -x /lib/systemd/systemd && test -w /dev/shm && command -v curl xz',
  'findmnt --noheadings --types cgroup2',
  'ip link set lo up && (PATH=$PATH:/usr/sbin:/sbin; nft list ruleset || iptables -S)',
].join(' && ');
export const canBootMachines = spawnSync('unshare', ['--net', '--mount', 'sh', '-c', needs]).status === 0;

/**
 * Runs a program of a test in a network namespace of its own, and returns its output. `addresses`: of that network, besides
 * loopback. `prepareMachines` must have been called outside of it.
 */
export async function inOwnNetwork(program: readonly string[], addresses: readonly string[] = []): Promise<string> {
  const network = ['ip link set lo up', ...addresses.map((each) => `ip address add ${each}/32 dev lo`), 'exec "$@"'];
  const words = ['--net', '--mount', 'sh', '-c', network.join(' && '), 'sh', process.execPath, ...program];
  return (await promisify(execFile)('unshare', words, { maxBuffer: 1 << 24 })).stdout;
}

/** Downloads, while the outer network is available, the machines' needs: Python packages, and the archive of Node. */
export async function prepareMachines(): Promise<void> {
  await ensureEnvironment({
    ...{ cacheDir: sharedEnvironments, requirements: withDefaults([]), pythonPath: 'python3' },
    environment: { ...process.env, PATH: systemPath },
  });
  if (existsSync(archivePath)) return;
  const partial = `${archivePath}.${process.pid}`;
  // As in the archives of nodejs.org, the programs are below one folder.
  const pack = 'tar -C "$1" --transform "s,^,node/bin/," -c node | xz -0 > "$2"';
  await promisify(execFile)('sh', ['-c', pack, 'sh', join(node24, '..'), partial]);
  await rename(partial, archivePath);
}

/** `directory`: the machines' working directories, below /dev/shm. */
export const bootedMachines = (directory: string): MachineOptions => ({
  command: ['sh', join(import.meta.dirname, 'boot-machine.sh')],
  directory,
  environment: { PATH: process.env['PATH'] ?? '', SHARED_CACHE: sharedEnvironments },
});

/** The console output of a machine's boot. */
export const consoleOf = (directory: string, instance: string): Promise<string> =>
  readFile(join(directory, instance, 'console.txt'), 'utf8');

export interface NodeMirror {
  /** As ROPEWALK_NODE_MIRROR names it. */
  url: string;
  archive: { url: string; sha256: string };
  close(): void;
}

/** Stands in for nodejs.org/dist. */
export async function startNodeMirror(): Promise<NodeMirror> {
  const sha256 = createHash('sha256')
    .update(await readFile(archivePath))
    .digest('hex');
  const hashes = ['x64', 'arm64'].map((each) => `${sha256}  node-${process.version}-linux-${each}.tar.xz\n`).join('');
  const server = createServer((request, response) => {
    if (request.url?.endsWith('/SHASUMS256.txt') === true) response.end(hashes);
    else createReadStream(archivePath).pipe(response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { url, archive: { url: `${url}/${process.version}/${archiveName}`, sha256 }, close: () => server.close() };
}
