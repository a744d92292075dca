// A machine with a task user, a metadata service and podman, in namespaces of its own: observes a container of that user from the
// machine. Run by container-user.full.test.ts; prints one line of JSON.
import { once } from 'node:events';
import { chmod, chown, mkdir, mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { blockMetadata, metadataVariable } from '../../agent/lifecycle/metadata-block.ts';
import { findTaskUser } from '../../agent/processes/task-user.ts';
import { recordEngine, removeRecordedContainers } from '../../agent/runtimes/container/containers.ts';
import { findEngine, runEngine } from '../../agent/runtimes/container/engine.ts';
import { containerRuntime } from '../../agent/runtimes/container/runtime.ts';
import { eventually } from '../support/eventually.ts';
import { importImage, podman, podmanConfiguration } from '../support/container-image.ts';

const [image, instance] = ['localhost/ropewalk-user:test', 'i_user'];
const service = createServer((_, response) => response.end('credentials')).listen(80, '169.254.169.254');
await once(service, 'listening');
const user = await findTaskUser({ ROPEWALK_TASK_USER: 'containers-test' });
if (user === null) throw new Error('no user');
const scratch = await mkdtemp(join(tmpdir(), 'ropewalk-container-user-'));
await chmod(scratch, 0o711);
const configuration = await podmanConfiguration(scratch);
await chmod(configuration, 0o644);
const archive = join(scratch, 'image.tar');
const programs = ['bash', 'sh', 'id', 'cat', 'touch', 'sleep'].map((name) => `/usr/bin/${name}`);
await mkdir(user.home);
await chown(user.home, user.uid, user.gid);
const environment = { ...process.env, CONTAINERS_CONF: configuration, [metadataVariable]: '169.254.169.254' };
const engine = await findEngine({ directory: scratch, environment, user });
if (engine === null) throw new Error('no engine');
const lines: string[] = [];
const output = {
  append: (_: string, more: string[]): boolean => lines.push(...more) > 0,
  drained: () => Promise.resolve(),
};
try {
  await importImage(configuration, image, { programs });
  await podman(configuration, 'save', '--quiet', '--output', archive, image);
  await chmod(archive, 0o644);
  const loaded = await runEngine(engine, ['load', '--quiet', '--input', archive], 60_000);
  if (!loaded.ok) throw new Error(loaded.said);
  await recordEngine(scratch, instance, engine);
  await blockMetadata({ user, environment, isAllowed: false, log: { write: () => undefined } });
  const spec = { kind: 'container', image, ignoreEntrypoint: false, registryAuth: {} } as const;
  const runtime = containerRuntime({ engine, spec, instance, user, hasGpu: false, hasInit: false, python: 'python' });
  const start = async (script: string, name: string) => {
    const cwd = join(scratch, name);
    await mkdir(cwd, { mode: 0o700 });
    const env = runtime.variables({}, { TEXT: 'said', HOME: '/elsewhere' });
    return runtime.start({ argv: ['bash', '-c', script], env, cwd }, { output, pipeDirectory: scratch });
  };
  const script = [
    'id -u; echo "$TEXT $HOME"; cat /proc/self/uid_map; touch made; echo error > /dev/stderr',
    'touch /root/of-the-image && echo writable',
    '(exec 3<>/dev/tcp/169.254.169.254/80) 2>/dev/null || echo refused',
    'exit 7',
  ];
  const { exitCode } = await (await start(script.join('; '), 'first')).ended;
  const owner = (await stat(join(scratch, 'first', 'made'))).uid;
  // Its monitor outlives the client; the engine's record names the user under which it is found.
  const second = await start('echo running; sleep 1000', 'second');
  await eventually(() => lines.includes('running'));
  const removed = await removeRecordedContainers(scratch);
  await second.ended;
  const left = (await readdir(scratch)).filter((name) => name.endsWith('.env'));
  const said = lines.map((line) => line.trim().replace(/\s+/g, ' '));
  process.stdout.write(`${JSON.stringify({ exitCode, owner, uid: user.uid, removed, left, said: said.toSorted() })}\n`);
} finally {
  await runEngine(engine, ['system', 'reset', '--force'], 60_000);
  await podman(configuration, 'rmi', '--force', image);
  await rm(scratch, { recursive: true, force: true });
  await rm(user.home, { recursive: true, force: true });
}
process.exit(0);
