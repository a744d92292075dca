// The base image that the Dockerfiles name, built here where no image registry is reachable: Debian by debootstrap, with the Node
// of this checkout and the npm of this machine. Needs root, podman and debootstrap.
import { cp, mkdir, mkdtemp, realpath, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

import { node24 } from '../support/stack.ts';
import { run, succeeds } from './run.ts';

const certificates = '/etc/ssl/certs/ca-certificates.crt';

/** Keeps an existing image of that name, in particular the real one. */
export async function ensureBase(tag: string): Promise<void> {
  if (await succeeds('podman', ['image', 'exists', tag])) return;
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-base-'));
  try {
    const root = join(directory, 'root');
    await run('debootstrap', ['--variant=minbase', 'bookworm', root, 'http://deb.debian.org/debian']);
    await run('chroot', [root, '/usr/sbin/groupadd', '--gid', '1000', 'node']);
    await run('chroot', [root, '/usr/sbin/useradd', '--uid', '1000', '--gid', 'node', '--create-home', 'node']);
    await cp(node24, join(root, 'usr/local/bin/node'));
    // `npm` is a link to npm/bin/npm-cli.js.
    const npm = dirname(dirname(await realpath(await run('which', ['npm']))));
    await cp(npm, join(root, 'usr/local/lib/node_modules/npm'), { recursive: true });
    await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(root, 'usr/local/bin/npm'));
    // This machine may reach the package registry through a proxy with its own certificate authority.
    await mkdir(dirname(join(root, certificates)), { recursive: true });
    await cp(certificates, join(root, certificates), { dereference: true });
    const archive = join(directory, 'base.tar');
    await run('tar', ['-C', root, '-cf', archive, '.']);
    const changes = [
      'ENV PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
      `ENV NODE_EXTRA_CA_CERTS=${certificates}`,
      `ENV npm_config_cafile=${certificates}`,
    ];
    await run('podman', ['import', ...changes.flatMap((change) => ['--change', change]), archive, tag]);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}
