// The container engine of an instance: podman, else docker. Nothing of the agent's environment reaches it but the variables
// by which an engine finds its configuration, its storage and the outside.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import { defined, network, ordinary, pick } from '../inherited-variables.ts';
import type { Variables } from '../runtime.ts';

export interface Engine {
  kind: 'podman' | 'docker';
  environment: Record<string, string>;
}

export type EngineOutcome = { ok: true; stdout: string } | { ok: false; said: string };

/** The variables of the agent that an engine gets. */
export const engineVariables = [
  ...[...ordinary, 'XDG_RUNTIME_DIR', 'DBUS_SESSION_BUS_ADDRESS'],
  ...['CONTAINERS_CONF', 'CONTAINERS_STORAGE_CONF', 'CONTAINERS_REGISTRIES_CONF', 'CONTAINER_HOST'],
  ...['DOCKER_HOST', 'DOCKER_CERT_PATH', 'DOCKER_TLS_VERIFY'],
  ...[...network, 'ROPEWALK_INSTANCE'],
];

/** The first engine that works; null when there is none. docker works only where its daemon answers. */
export async function findEngine(own: Variables): Promise<Engine | null> {
  const environment = defined(pick(own, engineVariables));
  for (const kind of ['podman', 'docker'] as const) {
    const engine: Engine = { kind, environment };
    const answer = await runEngine(engine, ['info', '--format', operatingSystem[kind]], 30_000);
    if (answer.ok) return engine;
  }
  return null;
}

/** A field that only a working engine knows. */
const operatingSystem = { podman: '{{.Host.OS}}', docker: '{{.OSType}}' };

/** Never rejects, unless `signal` is aborted: then with its reason. */
export async function runEngine(
  engine: Engine,
  args: readonly string[],
  timeoutMs: number,
  signal?: AbortSignal,
): Promise<EngineOutcome> {
  try {
    const { stdout } = await promisify(execFile)(engine.kind, [...args], {
      env: engine.environment,
      timeout: timeoutMs,
      killSignal: 'SIGKILL',
      maxBuffer: 16 * 1024 * 1024,
      ...(signal === undefined ? {} : { signal }),
    });
    return { ok: true, stdout };
  } catch (error) {
    signal?.throwIfAborted();
    if (!(error instanceof Error)) return { ok: false, said: String(error) };
    const stderr = 'stderr' in error ? String(error.stderr).trim() : '';
    const wasKilled = 'killed' in error && error.killed === true;
    const timeout = wasKilled ? `it was ended after ${Math.round(timeoutMs / 1_000)} s. ` : '';
    return { ok: false, said: `${timeout}${stderr === '' ? error.message : stderr.slice(-1_000)}` };
  }
}
