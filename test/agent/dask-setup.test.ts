// The reports of an instance of a Dask cluster while its Python environment cannot be created.
import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { environment } from '../builders/environment.ts';
import { setUp } from '../../agent/dask/setup.ts';
import { createLog } from '../../agent/logs/log.ts';

/** A Python whose pip installs nothing, and quotes the URL of its index. */
const python = `#!/bin/sh
case "$*" in
  *sysconfig*) printf '3.12.1\\n%s\\ncpython linux-x86_64 none\\n' "$0" ;;
  *) echo 'Failed to fetch: https://ada:hunter2@index.example/hunter2/simple/uv/?token=hunter2' >&2; exit 1 ;;
esac
`;

it('quotes no password of an index, also where it only tries again', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-setup-'));
  await writeFile(join(directory, 'python3'), python);
  await chmod(join(directory, 'python3'), 0o755);
  const stopping = new AbortController();
  const said: string[] = [];
  const made = setUp({
    instance: 'i_1',
    directory,
    boot: {
      apiUrl: 'http://127.0.0.1:1',
      launchToken: 't',
      address: '127.0.0.1',
      cacheDir: join(directory, 'cache'),
      powerOff: null,
      owner: { deploymentId: 'd', workspace: 'default', cluster: 1 },
    },
    environment: { PATH: `${directory}:/usr/bin:/bin` },
    log: {
      ...createLog(join(directory, 'agent.jsonl')),
      write: (text) => {
        said.push(text);
        stopping.abort();
      },
    },
    stopping,
    user: null,
    role: 'worker',
    session: {
      register: () => Promise.resolve(null),
      registered: () => {
        throw new Error('not a part of this test');
      },
      // No environment of another instance, and no certificate before the environment has failed.
      call: ({ path }) =>
        path === '/v1/agent/environment-builds' ? Promise.resolve(null) : new Promise(() => undefined),
      renew: () => undefined,
      token: () => '',
      order: () => ({ code: '', text: '', failed: false }),
    },
    work: directory,
    runtime: { kind: 'environment', ...environment() },
    onStage: () => undefined,
    note: () => undefined,
  });
  try {
    await expect(made).rejects.toThrow('aborted');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
  expect(said).toEqual([expect.stringContaining('https://[secret]@index.example')]);
  expect(said.join()).not.toContain('hunter2');
});
