// Builds both images from their Dockerfiles as they are, and runs them against a Temporal server of its own until the API is
// ready and a job is done. By hand: `npm run test:images`, as root, with podman, runc and debootstrap; a few minutes.
import { chown, mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { loadHost } from '../../ops/host.ts';
import { createClient } from '../../sdk/client.ts';
import { runCli } from '../cli/run-cli.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/free-port.ts';
import { startTemporal } from '../support/temporal-server.ts';
import { ensureBase } from './base.ts';
import { run } from './run.ts';

const repository = join(import.meta.dirname, '../..');
const names = ['api', 'worker'] as const;
const namespace = 'images';
/** crun, podman's default, refuses machines that have both versions of control groups. */
const podman = (words: string[]): Promise<string> => run('podman', ['--runtime', 'runc', ...words], repository);
/** Where podman's own limits exceed this machine's, no container starts. */
const limits = ['--ulimit=nofile=16384:16384', '--ulimit=nproc=16384:16384'];

async function main(words: string[]): Promise<void> {
  // To retry the images of an earlier run.
  if (!words.includes('--built')) await build();
  const directory = await mkdtemp(join(tmpdir(), 'ropewalk-images-'));
  const nothing = { none: async () => undefined };
  const temporal = await startTemporal({ control: nothing, instances: nothing });
  const containers: string[] = [];
  try {
    await tryOut(directory, temporal.address, containers);
  } catch (error) {
    for (const id of containers) console.error(await podman(['logs', '--tail', '40', id]).catch(String));
    throw error;
  } finally {
    // In order: the API ends by SIGTERM, then the Temporal worker, whose container ends its agents too.
    for (const id of containers) await podman(['rm', '--force', '--time', '20', id]).catch(console.error);
    await temporal.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

async function build(): Promise<void> {
  const recipe = await readFile(join(repository, 'ops/Dockerfile.api'), 'utf8');
  await ensureBase(`docker.io/library/${/^FROM (\S+)/m.exec(recipe)?.[1] ?? ''}`);
  for (const name of names) {
    const recipeOf = ['-f', `ops/Dockerfile.${name}`, '--ignorefile', `ops/Dockerfile.${name}.dockerignore`];
    await podman(['build', '--network=host', ...recipeOf, '-t', `ropewalk-${name}`, '.']);
    console.log(`built ropewalk-${name}`);
  }
}

async function tryOut(directory: string, address: string, containers: string[]): Promise<void> {
  const state = join(directory, 'state');
  await mkdir(state, { mode: 0o700 });
  const env = {
    ROPEWALK_HOME: state,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    ROPEWALK_PROVIDERS: 'local',
  };
  const init = await runCli(['init', '--admin', 'ada'], { env: { ...env, HOME: directory } });
  if (init.code !== 0) throw new Error(init.stderr);
  const token = init.stdout.trim();
  const { hostId } = await loadHost(state);
  // The containers' user owns the database, too.
  for (const path of [state, ...(await readdir(state)).map((name) => join(state, name))]) await chown(path, 1000, 1000);
  const port = await freePort();
  const apiUrl = `http://127.0.0.1:${port}`;
  const settings = {
    api: { ROPEWALK_PORT: String(port), ROPEWALK_PUBLIC_URL: apiUrl, ROPEWALK_METRICS_ADDRESS: await freeAddress() },
    worker: { ROPEWALK_API_URL: apiUrl, ROPEWALK_METRICS_ADDRESS: await freeAddress() },
  };
  for (const name of names) {
    const given = {
      ...settings[name],
      ROPEWALK_HOST_ID: hostId,
      ROPEWALK_PROVIDERS: 'local',
      TEMPORAL_ADDRESS: address,
      TEMPORAL_NAMESPACE: namespace,
    };
    const words = Object.entries(given).flatMap(([key, value]) => ['--env', `${key}=${value}`]);
    const where = ['--network=host', ...limits, '--volume', `${state}:/var/lib/ropewalk`];
    containers.push(await podman(['run', '--detach', ...where, ...words, `ropewalk-${name}`]));
  }
  await eventually(async () => (await fetch(`${apiUrl}/readyz`).catch(() => null))?.status === 200, {
    timeoutMs: 120_000,
  });
  console.log('the API is ready');

  const { jobs } = createClient({ apiUrl, token });
  const { number } = await jobs.create({ command: ['node', '-e', 'console.log(process.version)'], ntasks: 2 });
  const { status, tasks } = await jobs.wait(number);
  if (status !== 'done') throw new Error(`job ${number} is ${status}: ${JSON.stringify(tasks)}`);
  console.log(`job ${number} is done: ${tasks.done} tasks`);
}

const freeAddress = async (): Promise<string> => `127.0.0.1:${await freePort()}`;

await main(process.argv.slice(2));
