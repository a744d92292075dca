// Installs an engine on a machine dedicated to this instance; refuses to change any other machine.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

import type { ContainerInput } from './input.ts';
import { findEngine, type Engine } from './engine.ts';

const installTimeoutMs = 10 * 60_000;

/** Rejects with a user-facing reason. */
export async function installEngine(input: ContainerInput): Promise<Engine> {
  const { boot, environment, log, stopping } = input;
  // A machine that the agent may power off is dedicated to it.
  if (boot.powerOff === null || process.getuid?.() !== 0) throw missing('');
  log.write('This instance has no container engine: podman is being installed.');
  const why = await install(environment, stopping.signal);
  const engine = await findEngine(input);
  if (engine !== null) return engine;
  throw missing(` The installation of podman failed: ${why}.`);
}

async function install(environment: Record<string, string | undefined>, signal: AbortSignal): Promise<string> {
  const env = { ...environment, DEBIAN_FRONTEND: 'noninteractive' };
  const options = { env, signal, timeout: installTimeoutMs };
  const lock = ['-q', '-y', '-o', 'DPkg::Lock::Timeout=300'];
  try {
    await promisify(execFile)('apt-get', [...lock, 'update'], options);
    await promisify(execFile)('apt-get', [...lock, 'install', 'podman', 'catatonit', 'uidmap'], options);
    return '';
  } catch (error) {
    signal.throwIfAborted();
    return error instanceof Error ? error.message.slice(-500) : String(error);
  }
}

const missing = (why: string): Error =>
  new Error(
    `This instance has no container engine: neither podman nor docker works here.${why} Install one of them for the user of ` +
      'the agent, or run without a container.',
  );
