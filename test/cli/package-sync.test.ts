// Package sync of `batch run`, with a real Python that has no ropewalk: its reads, uploads and requests.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, expect, it } from 'vitest';

import { openStandIn, token } from '../sdk/open-stand-in.ts';
import type { CliResult } from './run-cli.ts';
import { callCli } from './call-cli.ts';

let place: string;
let environment: string;
const python = (): string => join(environment, 'bin', 'python');
beforeAll(async () => {
  place = await mkdtemp(join(tmpdir(), 'ropewalk-package-sync-'));
  environment = join(place, 'environment');
  await promisify(execFile)('python3', ['-m', 'venv', '--without-pip', environment]);
  const site = (
    await promisify(execFile)(python(), ['-c', 'import sysconfig; print(sysconfig.get_path("purelib"))'])
  ).stdout.trim();
  await install(site, 'one');
  await install(site, 'two');
});
afterAll(() => rm(place, { recursive: true, force: true }));

async function install(site: string, name: string): Promise<void> {
  await mkdir(join(site, `${name}-1.0.dist-info`), { recursive: true });
  await writeFile(
    join(site, `${name}-1.0.dist-info`, 'METADATA'),
    `Metadata-Version: 2.1\nName: ${name}\nVersion: 1.0\n`,
  );
  await writeFile(join(site, `${name}-1.0.dist-info`, 'INSTALLER'), 'pip\n');
}

interface Sent {
  software?: { requirements: string[]; python: string; packageFiles: { name: string; sha256: string }[] };
  clientOptions?: string[];
}

async function submit(
  words: string[],
  files: Record<string, string> = {},
): Promise<CliResult & { body: Sent; stored: Buffer[] }> {
  const cwd = await mkdtemp(join(place, 'work-'));
  for (const [name, content] of Object.entries(files)) {
    await mkdir(join(cwd, name, '..'), { recursive: true });
    await writeFile(join(cwd, name), content);
  }
  const api = await openStandIn(({ path, body }) => {
    if (path === '/v1/missing-package-files') return { json: { missing: Reflect.get(Object(body), 'sha256s') } };
    if (path.startsWith('/v1/package-files/')) return { status: 204 };
    return { status: 201, json: { number: 12, name: 'job-12', existing: false, warnings: [] } };
  });
  const env = {
    ROPEWALK_API_URL: api.url,
    ROPEWALK_TOKEN: token,
    PATH: `${join(environment, 'bin')}:${process.env['PATH']}`,
    HOME: cwd,
  };
  const result = await callCli(['batch', 'run', ...words], { cwd, env });
  const body = api.requests.find(({ path }) => path === '/v1/jobs')?.body;
  const stored = api.requests.flatMap((each) =>
    each.path.startsWith('/v1/package-files/') && Buffer.isBuffer(each.body) ? [each.body] : [],
  );
  // eslint-disable-next-line typescript/no-unsafe-type-assertion -- of a request that this test asserts on
  return { ...result, body: (body ?? {}) as Sent, stored };
}

const script = { 'job/script.py': 'import helpers\nfrom space import inner\n', 'job/helpers.py': 'x = 1\n' };

it('a Python script gets the packages of the python on the PATH, and the modules beside it', async () => {
  const files = { ...script, 'job/space/inner.py': 'y = 2\n', 'job/unused/inner.py': '', 'beside.py': '' };
  const { body, stderr, stored } = await submit(['python', 'job/script.py'], files);
  expect(stderr).toMatch(
    /Package sync: Python 3\.\d+, 2 packages, 1 package files \(1 uploaded\), 3 modules: helpers, script, space/,
  );
  expect(body.software?.requirements).toEqual(['one==1.0', 'two==1.0']);
  expect(body.software?.packageFiles.map(({ name }) => name)).toEqual(['modules.zip']);
  expect(stored.map((bytes) => bytes.subarray(0, 2).toString())).toEqual(['PK']);
  for (const name of ['helpers.py', 'space/inner.py']) expect(stored[0]?.includes(name)).toBe(true);
  for (const name of ['unused', 'beside.py']) expect(stored[0]?.includes(name)).toBe(false);
});

it('its options are those of the header and of the command line together', async () => {
  const header = '# COILED package-sync-ignore one\n# ROPEWALK package_sync_conda_extras = pytorch=2.3\nprint(1)\n';
  const { body, stderr } = await submit(['--package-sync-ignore', 'two,helpers', 'work.py'], {
    'work.py': header,
    'helpers.py': '',
  });
  expect(stderr).not.toContain('error');
  expect(body).toMatchObject({
    software: {
      requirements: ['one ; sys_platform == "excluded"', 'two ; sys_platform == "excluded"', 'torch==2.3.*'],
    },
    clientOptions: ['package-sync-ignore', 'package-sync-conda-extras'],
  });
  const only = await submit(['--package-sync-only', 'one', '--python', python(), 'bash', '-c', 'python work.py']);
  expect(only.body.software?.requirements).toEqual(['one==1.0']);
});

it.each([
  ['--no-package-sync', ['--no-package-sync', 'python', 'script.py'], {}],
  ['another command', ['bash', '-c', 'python script.py'], {}],
  ['--software', ['--software', 'science', 'python', 'script.py'], {}],
  ['the header', ['script.py'], { 'script.py': '# COILED no-package-sync\n' }],
  ['a container of the header', ['script.py'], { 'script.py': '# COILED container daskdev/dask\n' }],
])('is off by %s', async (_, words, files) => {
  const { code, body } = await submit(words, files);
  expect([code, body.software]).toEqual([0, undefined]);
});

it.each([
  [['--package-sync-fail-on', 'never', 'x.py'], 2, /Allowed choices are critical-only/],
  [['--requirement', 'one', '--package-sync-ignore', 'two', 'x.py'], 2, /both what the tasks run in/],
  [['--no-package-sync', '--package-sync-ignore', 'two', 'x.py'], 2, /exclude each other/],
  [['--python', '/nonexistent/python', 'python', 'x.py'], 1, /there is no \/nonexistent\/python/],
  [['--python', '/bin/true', 'python', 'x.py'], 1, /could not read the environment of \/bin\/true/],
  [
    ['--package-sync-strict', '--package-sync-conda-extras', 'gdal', 'python', 'x.py'],
    1,
    /gdal: it comes from conda[^]*--package-sync-ignore/,
  ],
])('refuses %j', async (words, exitCode, text) => {
  const { code, stderr, body } = await submit(words);
  expect({ code, body }).toEqual({ code: exitCode, body: {} });
  expect(stderr).toMatch(text);
});
