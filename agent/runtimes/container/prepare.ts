// Prepares an instance for running commands in containers of one image: finds or installs the engine, pulls the image, and for
// Dask checks the image before anything starts.
import { access, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import type { ContainerSpec } from '../../../schema/container.ts';
import { freshPath, makePassable, writeFor } from '../../processes/hand-over.ts';
import type { ContainerInput } from './input.ts';
import type { Runtime } from '../runtime.ts';
import { findDask } from './dask-check.ts';
import { findEngine, runEngine, type Engine } from './engine.ts';
import { installEngine } from './install.ts';
import { recordEngine, removeContainers } from './containers.ts';
import type { RegistryLogins } from './registry-login.ts';
import { containerRuntime } from './runtime.ts';

const pullAttempts = 3;
const pullAgainAfterMs = 2_000;
const pullTimeoutMs = 30 * 60_000;

/** Rejects with a user-facing reason, or with the stop order's reason. */
export async function prepareContainer(spec: ContainerSpec, input: ContainerInput): Promise<Runtime> {
  const { instance, directory, log, onStage, stopping, user } = input;
  const { signal } = stopping;
  onStage?.('tools');
  const engine = (await findEngine(input)) ?? (await installEngine(input));
  await recordEngine(directory, instance, engine);
  // Containers of a killed agent of this instance.
  await removeContainers(engine, instance);
  if (!(await runEngine(engine, ['image', 'inspect', spec.image], 60_000, signal)).ok) {
    onStage?.('download');
    const startedMs = performance.now();
    await pull(engine, spec, input);
    log.write(`The image ${spec.image} was pulled in ${((performance.now() - startedMs) / 1000).toFixed(1)} s.`);
  }
  const place = {
    engine,
    spec,
    instance,
    user,
    hasGpu: await exists('/dev/nvidiactl'),
    hasInit: await hasInit(engine),
  };
  const runtime = containerRuntime({ ...place, python: 'python' });
  if (input.needsDask !== true) return runtime;
  return containerRuntime({ ...place, python: await findDask(runtime, spec.image, input) });
}

async function pull(engine: Engine, { image, registryAuth }: ContainerSpec, input: ContainerInput): Promise<void> {
  const { directory, log, stopping } = input;
  const { signal } = stopping;
  const own = await ownLogin(image, input);
  const auths = { ...own.logins, ...registryAuth };
  const login = await makePassable(engine.user, freshPath(directory, 'registry'));
  try {
    await writeFor(engine.user, join(login, 'config.json'), JSON.stringify({ auths }));
    const hasAuth = Object.keys(auths).length > 0;
    const words = {
      podman: ['pull', '--quiet', ...(hasAuth ? ['--authfile', join(login, 'config.json')] : []), image],
      docker: [...(hasAuth ? ['--config', login] : []), 'pull', '--quiet', image],
    };
    for (let attempt = 1; ; attempt += 1) {
      const pulled = await runEngine(engine, words[engine.kind], pullTimeoutMs, signal);
      if (pulled.ok) return;
      if (isFinal.test(pulled.said) || attempt === pullAttempts)
        throw notPulled(engine, image, pulled.said, own.missing);
      log.write(`The image ${image} could not be pulled; trying again: ${pulled.said}`);
      await sleep(pullAgainAfterMs * attempt, undefined, { signal });
    }
  } finally {
    await rm(login, { recursive: true, force: true });
  }
}

/** A registry's answers for an image that does not exist, or that we may not read. */
const isFinal = /manifest unknown|not found|denied|unauthorized|authentication required|invalid reference|short-name/i;

function notPulled(engine: Engine, image: string, said: string, missing: string | null): Error {
  const about = `The image ${image} could not be pulled: ${engine.kind} says: ${said}.`;
  const credentials = 'a private registry needs credentials (--registry-auth, registry_auth).';
  return new Error(
    missing === null ? `${about} Check its name; ${credentials}` : `${about} No login to the registry: ${missing}.`,
  );
}

/** The caller's own login for the registry has priority: an instance without one has not failed yet. */
async function ownLogin(
  image: string,
  { registryLogin, log }: ContainerInput,
): Promise<{ logins: RegistryLogins; missing: string | null }> {
  try {
    return { logins: (await registryLogin?.(image)) ?? {}, missing: null };
  } catch (error) {
    const missing = error instanceof Error ? error.message : String(error);
    log.write(`No login to the registry of ${image}: ${missing}.`);
    return { logins: {}, missing };
  }
}

/** podman's init is a separate package, and --init fails without it; docker includes one. Without it TERM ends fewer programs. */
async function hasInit({ kind }: Engine): Promise<boolean> {
  if (kind === 'docker') return true;
  const found = await Promise.all(inits.map(exists));
  return found.includes(true);
}

/** podman's search path (containers.conf, init_path and helper_binaries_dir). */
const inits = [
  '/usr/libexec/podman/catatonit',
  '/usr/local/libexec/podman/catatonit',
  '/usr/local/lib/podman/catatonit',
  '/usr/lib/podman/catatonit',
];

const exists = (path: string): Promise<boolean> =>
  access(path).then(
    () => true,
    () => false,
  );
