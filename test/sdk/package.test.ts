// The SDK as its users get it: built, packed, installed outside the checkout without a network, run by plain Node and
// type-checked. The API is a stand-in over real HTTP.
import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { promisify } from 'node:util';

import { afterAll, beforeAll, describe, expect, it } from 'vitest';

import { saveConfig } from '../../cli/save-config.ts';
import { buildSdk } from '../../sdk/build/main.ts';
import { openStandIn, token } from './open-stand-in.ts';
import { aCluster, aJob } from './stand-in-api.ts';
import type { StandIn } from './stand-in-api.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '../..');
const tsc = join(root, 'node_modules', '.bin', 'tsc');
/** Without the Node of the checkout: the system's own is found, which may be Node 20. */
const systemPath = (process.env['PATH'] ?? '')
  .split(delimiter)
  .filter((directory) => !directory.includes('node_modules'))
  .join(delimiter);

let work: string;
let project: string;
beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'ropewalk-sdk-'));
  project = join(work, 'project');
  await mkdir(project);
  await buildSdk(join(work, 'sdk'));
  await writeFile(join(project, 'package.json'), JSON.stringify({ private: true, type: 'module' }));
  const { stdout } = await npm(['pack', '--silent', join(work, 'sdk')]);
  await npm(['install', '--offline', '--no-audit', '--no-fund', join(project, stdout.trim())]);
}, 60_000);
afterAll(() => rm(work, { recursive: true, force: true }));

const npm = (words: string[]) =>
  run('npm', words, { cwd: project, env: { ...process.env, PATH: systemPath, npm_config_cache: join(work, 'npm') } });

describe('the package', () => {
  it('holds compiled files and declarations, and no file of the checkout', async () => {
    const installed = join(project, 'node_modules', '@ropewalk', 'sdk');
    const names = await readdir(installed, { recursive: true });
    expect(names).toEqual(expect.arrayContaining(['client.js', 'client.d.ts', 'schema.d.ts', 'LICENSE', 'README.md']));
    expect(names.filter((name) => !/^[\w-]+(\.d\.ts|\.js|\.json|\.md)$|^LICENSE$/.test(name))).toEqual([]);
    for (const name of names.filter((each) => /\.(js|d\.ts)$/.test(each))) {
      const imported = [
        ...(await readFile(join(installed, name), 'utf8')).matchAll(/(?:from |import\()['"]([^'"]+)['"]/g),
      ];
      const outside = imported
        .map(([, specifier = '']) => specifier)
        .filter((specifier) => !/^\.\/[\w-]+\.js$/.test(specifier));
      const allowed = name === 'connection.js' ? ['#defaults'] : ['node:fs', 'node:os', 'node:path'];
      const expected = name === 'connection.js' || name === 'defaults-node.js' ? allowed : [];
      expect({ name, outside }).toEqual({ name, outside: expected });
    }
    const about: { dependencies?: unknown } = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
    expect(about.dependencies).toBeUndefined();
  });

  it.each([
    ['the Node of the checkout', process.execPath],
    ['the Node of the system', 'node'],
  ])("runs README's example on %s", async (_, node) => {
    const api = await anApi();
    const home = join(work, 'home');
    await saveConfig(home, { apiUrl: api.url, token, workspace: 'default' });
    const file = join(project, 'example.mjs');
    await writeFile(file, await exampleOf('README.md'));
    const { stdout } = await run(node, [file], { cwd: project, env: { PATH: systemPath, ROPEWALK_HOME: home } });
    expect(stdout).toBe('0 hello\n1 hello\n');
    expect(new Set(api.requests.map(({ headers }) => headers.authorization))).toEqual(new Set([`Bearer ${token}`]));
  });

  it.each([
    ['nodenext', 'nodenext'],
    ['esnext', 'bundler'],
  ])('type-checks its examples with module %s and resolution %s', async (module, moduleResolution) => {
    const files = { 'readme.ts': 'README.md', 'package.ts': 'sdk/README.md', 'cluster.ts': 'sdk/README.md' };
    for (const [name, from] of Object.entries(files)) {
      await writeFile(join(project, name), await exampleOf(from, name === 'cluster.ts' ? 1 : 0));
    }
    await writeFile(join(project, 'types.ts'), typesUsed);
    const options = { strict: true, exactOptionalPropertyTypes: true, skipLibCheck: false, types: [], noEmit: true };
    const config = { compilerOptions: { ...options, module, moduleResolution, target: 'es2022' }, include: ['*.ts'] };
    await writeFile(join(project, 'tsconfig.json'), JSON.stringify(config));
    const said = await run(tsc, ['-p', project]).catch((error: { stdout: string }) => error);
    expect(said.stdout).toBe('');
  });

  it('starts no request and reads no file where there is no Node', async () => {
    const file = join(project, 'browser.mjs');
    await writeFile(
      file,
      `import { createClient } from '@ropewalk/sdk';
try { createClient(); } catch (error) { console.log(error.name + ': ' + error.message); }
console.log(typeof createClient({ apiUrl: 'http://127.0.0.1:1', token: 'x' }).jobs.list);`,
    );
    const { build } = await import('esbuild');
    const bundled = await build({
      entryPoints: [file],
      bundle: true,
      format: 'esm',
      platform: 'browser',
      write: false,
    });
    const text = bundled.outputFiles[0]?.text ?? '';
    expect(text).not.toMatch(/node:|process\.env/);
    await writeFile(join(project, 'bundled.mjs'), text);
    const { stdout } = await run(process.execPath, [join(project, 'bundled.mjs')], { cwd: project });
    expect(stdout).toBe('ConfigurationError: No API address: pass `apiUrl`.\nfunction\n');
  });
});

/** Types whose origin is schema/, as a user names them. */
const typesUsed = `import { createClient } from '@ropewalk/sdk';
import type { Cluster, CreateCluster, CreateJob, Job, Plan, Role } from '@ropewalk/sdk';
const input: CreateJob = { command: ['true'], cpu: [2, 8], env: { MODE: 'fast' } };
const request: CreateCluster = { workers: 2, software: { requirements: ['pandas'] }, idleTimeout: '5 minutes' };
export const status = (job: Job): 'waiting' | 'pending' | 'running' | 'done' | 'error' | 'cancelled' => job.status;
export const address = (cluster: Cluster): string | null => cluster.dask?.schedulerAddress ?? null;
export const price = async (): Promise<Plan['pricePerHour']> => (await createClient().clusters.plan(request)).pricePerHour;
export const role: Role = 'read-only';
// @ts-expect-error -- a word that is no number of tasks
export const wrong: CreateJob = { ...input, ntasks: 'ten' };
`;

/** The nth TypeScript example of a document. */
async function exampleOf(document: string, nth = 0): Promise<string> {
  const text = await readFile(join(root, document), 'utf8');
  const example = [...text.matchAll(/^```ts\n([\s\S]*?)^```/gm)][nth]?.[1];
  if (example === undefined) throw new Error(`${document} has no TypeScript example number ${nth + 1}`);
  return example;
}

/** One job of two tasks that ends at once. */
const anApi = (): Promise<StandIn> =>
  openStandIn(({ method, path }) => {
    if (path === '/v1/clusters/7') return { json: aCluster() };
    if (method === 'POST') return { status: 201, json: { number: 12, name: 'job-12', existing: false, warnings: [] } };
    if (!path.endsWith('/logs')) return { json: aJob() };
    const line = { at: '2026-01-31T12:00:00.000Z', instance: 'i_1', attempt: 1, stream: 'stdout', text: 'hello' };
    return { chunks: [0, 1].map((task) => `${JSON.stringify({ ...line, task })}\n`) };
  });
