// `ropewalk env`, with a stand-in for uv that prints its arguments.
import { chmod, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { expect, it } from 'vitest';

import { openStandIn, token } from '../sdk/open-stand-in.ts';
import { aLine } from '../sdk/stand-in-api.ts';
import { callCli } from './call-cli.ts';
import { withDirectory } from './run-cli.ts';

const made = {
  ...{ name: 'science', version: 2, hash: 'h', kind: 'environment', summary: '2 pinned requirements', user: 'ada' },
  ...{ createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-02T00:00:00.000Z' },
};
const uv = `#!/bin/sh
read line
case "$line" in *nonsense*) echo "no such package at https://ada:hunter2@index.example/simple" >&2; exit 1 ;; esac
echo "# by uv"
echo "--index-url https://pypi.org/simple"
echo "$line==1.0"
echo "words==$(echo "$@" | grep -c 'python-version 3.12')"
`;

async function env(words: string[], cwd: string, json: unknown = made) {
  const api = await openStandIn(() => ({ status: 200, json }));
  const variables = { ROPEWALK_API_URL: api.url, ROPEWALK_TOKEN: token, PATH: `${cwd}:${process.env['PATH']}` };
  const result = await callCli(['env', ...words], { cwd, env: variables });
  return { ...result, request: api.requests[0] };
}

it('resolves versions here, and points the name to them', async () => {
  await withDirectory(async (cwd) => {
    await writeFile(join(cwd, 'uv'), uv);
    await chmod(join(cwd, 'uv'), 0o755);
    const created = await env(['create', 'science', '--pip', 'pandas', '--python', '3.12'], cwd);
    expect(created).toMatchObject({ code: 0, stdout: 'Environment science has version 2: 2 pinned requirements\n' });
    expect(created.request).toMatchObject({ method: 'PUT', path: '/v1/environments/science' });
    const software = { requirements: ['pandas==1.0', 'words==1'], pinned: true, python: '3.12' };
    expect(created.request?.body).toEqual({ software });
    await writeFile(join(cwd, 'requirements.txt'), '# mine\npolars  # fast\n');
    const kept = await env(['create', 'science', '--requirements', 'requirements.txt', '--no-resolve'], cwd);
    expect(kept.request?.body).toEqual({ software: { requirements: ['polars'], pinned: false } });
    const image = await env(['create', 'science', '--container', 'daskdev/dask'], cwd);
    expect(image.request?.body).toEqual({ container: 'daskdev/dask' });
    const failed = await env(['create', 'science', '--pip', 'nonsense'], cwd);
    expect([failed.code, failed.request]).toEqual([1, undefined]);
    expect(failed.stderr).toContain('no such package at https://[secret]@index.example/simple');
  });
});

it.each([
  [['create', 'x'], 'Give one of --pip'],
  [['create', 'x', '--pip', 'a', '--container', 'b'], 'Give one of --pip'],
  [['create', 'x', '--conda', 'environment.yml'], '--conda: cannot read environment.yml: ENOENT'],
  [['create', 'x', '--lock', 'poetry.lock'], 'is not a uv.lock'],
])('refuses %j', async (words, text) => {
  await withDirectory(async (cwd) => {
    const refused = await env(words, cwd);
    expect([refused.code, refused.request]).toEqual([2, undefined]);
    expect(refused.stderr).toContain(text);
  });
});

it.each([
  ['# mine\npolars\n-r base.txt\n', '--no-resolve: line 3 of requirements.txt is the option -r'],
  ['-e ./mine\n', 'line 1 of requirements.txt is the option -e'],
  ['--index-url=https://ada:hunter2@index.example/simple\n', 'line 1 of requirements.txt is the option --index-url'],
])('refuses to leave out a line of %j', async (text, error) => {
  await withDirectory(async (cwd) => {
    await writeFile(join(cwd, 'requirements.txt'), text);
    const refused = await env(['create', 'science', '--requirements', 'requirements.txt', '--no-resolve'], cwd);
    expect([refused.code, refused.request]).toEqual([2, undefined]);
    expect(refused.stderr).toContain(error);
    expect(refused.stderr).not.toContain('hunter2');
  });
});

it('refuses a local project that uv has resolved', async () => {
  await withDirectory(async (cwd) => {
    await writeFile(join(cwd, 'uv'), '#!/bin/sh\necho "-e file:///home/ada/mine"\necho "polars==1.0"\n');
    await chmod(join(cwd, 'uv'), 0o755);
    const refused = await env(['create', 'science', '--pip', 'polars'], cwd);
    expect([refused.code, refused.request]).toEqual([2, undefined]);
    expect(refused.stderr).toContain('-e file:///home/ada/mine is a project on this machine');
  });
});

it('lists, shows and deletes', async () => {
  await withDirectory(async (cwd) => {
    const listed = await env(['list'], cwd, { items: [made], next: null });
    expect(listed.stdout).toMatch(/science +│ 2 +│ 2 pinned requirements/);
    const software = { requirements: ['pandas==1.0'], pinned: true, python: null, packageFiles: [] };
    const [builtAt, usedAt] = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z'];
    const by = { cluster: 7, instance: 'i-07', user: 'ada', claimedAt: builtAt, lastUsedAt: usedAt };
    const archive = { bytes: 2 ** 20, unpackedBytes: 3 * 2 ** 20, buildSeconds: 61.5, storedAt: builtAt };
    const builds = [
      { ...by, state: 'stored', platform: 'debian 12', hasSetupScript: false, archive },
      { ...by, state: 'building', platform: 'debian 13', hasSetupScript: true, archive: null },
    ];
    const shown = await env(['inspect', 'science'], cwd, { ...made, software, container: null, builds });
    expect(shown.stdout).toBe('pandas==1.0\n');
    const stored = `Stored for debian 12: 1.0 MiB (3.0 MiB unpacked), built in 61.5 s by instance i-07 of cluster 7 (ada) at ${builtAt}`;
    expect(shown.stderr).toContain(`${stored}, last used ${usedAt}\n`);
    expect(shown.stderr).toContain(
      'Being built for debian 13, after a host setup script: instance i-07 of cluster 7 (ada)',
    );
    const deleted = await env(['delete', 'science'], cwd);
    expect(deleted).toMatchObject({ code: 0, stdout: 'Environment science is deleted\n' });
    expect(deleted.request?.method).toBe('DELETE');
  });
});

it('prints what the instance says that has built it', async () => {
  const by = { cluster: 7, instance: 'i-07', user: 'ada', claimedAt: made.createdAt, lastUsedAt: made.createdAt };
  const builds = [{ ...by, state: 'failed', platform: 'debian 12', hasSetupScript: false, archive: null }];
  const lines = [
    aLine({ task: null, text: 'Scheduler at' }),
    aLine({ task: null, stream: 'agent', text: 'no such package' }),
  ];
  const api = await openStandIn(({ path }) =>
    path.endsWith('/logs')
      ? { chunks: lines.map((line) => `${JSON.stringify(line)}\n`) }
      : { json: { ...made, software: null, container: null, builds } },
  );
  const variables = { ROPEWALK_API_URL: api.url, ROPEWALK_TOKEN: token };
  const shown = await callCli(['env', 'logs', 'science'], { env: variables });
  expect([shown.code, shown.stdout]).toEqual([0, '2025-07-09 16:50:37.844000 no such package\n']);
  expect(shown.stderr).toContain('Could not be built or stored for debian 12: instance i-07 of cluster 7 (ada)');
  expect(api.requests[1]).toMatchObject({ path: '/v1/clusters/7/logs', query: { instance: 'i-07' } });
  const second = await callCli(['env', 'logs', 'science', '--build', '2'], { env: variables });
  expect([second.code, second.stderr]).toEqual([1, 'error: science has one build, and none with the number 2\n']);
});

const environmentYml = `name: science
channels: [conda-forge]
dependencies:
  - python=3.12.4
  - pip
  - pytorch=2.3
  - conda-forge::xgboost==2.0.3
  - numpy >=1.26
  - pandas=2.2.1=py312_0
  - pip:
      - ropewalk-none==1.0
`;

it('takes an environment.yml of conda under the names of the package index, and names what that does not have', async () => {
  await withDirectory(async (cwd) => {
    await writeFile(join(cwd, 'environment.yml'), environmentYml);
    const made = await env(['create', 'x', '--conda', 'environment.yml', '--no-resolve'], cwd);
    expect(made.request?.body).toEqual({
      software: {
        requirements: ['torch==2.3.*', 'xgboost==2.0.3', 'numpy>=1.26', 'pandas==2.2.1.*', 'ropewalk-none==1.0'],
        pinned: false,
        python: '3.12',
      },
    });
    await writeFile(join(cwd, 'environment.yml'), 'dependencies: [gdal, libgdal=3, numpy, r-ggplot2]\n');
    const refused = await env(['create', 'x', '--conda', 'environment.yml'], cwd);
    expect([refused.code, refused.request]).toEqual([2, undefined]);
    expect(refused.stderr).toContain('none has gdal, libgdal=3, r-ggplot2');
  });
});
