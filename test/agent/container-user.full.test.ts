// Containers where the agent is root: podman runs them as the task user. Needs root, podman and uidmap.
import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { describe, expect, it } from 'vitest';

import { hasPodman } from '../support/container-image.ts';

const needs = '[ -d /dev/mqueue ] && command -v newuidmap && ip link set lo up && iptables -S';
const canRun = spawnSync('unshare', ['--mount', '--net', 'sh', '-c', `PATH=$PATH:/usr/sbin; ${needs}`]).status === 0;

/** System files that name users are replaced in this mount namespace alone. */
const machine = [
  'mount --make-rshared / && mount -t mqueue none /dev/mqueue',
  ...['passwd', 'group', 'subuid', 'subgid'].map((name) => `mount --bind "$FILES/${name}" /etc/${name}`),
  'ip link set lo up && ip address add 169.254.169.254/32 dev lo',
  'exec "$@"',
].join(' && ');

describe.runIf(canRun && (await hasPodman()))('a container on a machine whose agent is root', () => {
  it('is the user of tasks there, is root in its image, and does not reach the metadata service', async () => {
    const files = await mkdtemp(join(tmpdir(), 'ropewalk-users-'));
    try {
      const added = {
        passwd: `containers-test:x:64005:64005::${files}-home:/bin/sh\n`,
        group: 'containers-test:x:64005:\n',
        subuid: 'containers-test:1900000000:65536\n',
        subgid: 'containers-test:1900000000:65536\n',
      };
      for (const [name, line] of Object.entries(added)) {
        await writeFile(join(files, name), (await readFile(join('/etc', name), 'utf8')) + line);
      }
      const program = [process.execPath, join(import.meta.dirname, 'container-user-machine.ts')];
      const { stdout } = await promisify(execFile)(
        'unshare',
        ['--mount', '--net', 'sh', '-c', machine, 'sh', ...program],
        { env: { ...process.env, FILES: files } },
      );
      expect(JSON.parse(stdout)).toEqual({
        ...{ exitCode: 7, owner: 64_005, uid: 64_005, removed: 1, left: [] },
        said: [
          '0',
          'said /elsewhere',
          '0 64005 1',
          '1 1900000000 65536',
          'error',
          'writable',
          'refused',
          'running',
        ].toSorted(),
      });
    } finally {
      await rm(files, { recursive: true, force: true });
    }
  });
});
