// The containers of an instance, found by their label. A container outlives its engine's client and the agent when they are
// killed, because its parent is another process. A file in the instance's directory names the engine; without it, the process
// that terminates the instance calls no engine.
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { z } from 'zod';

import { instanceLabel } from './command-line.ts';
import { runEngine, type Engine } from './engine.ts';

const recordFile = 'containers.json';
const record = z.object({
  instance: z.string(),
  kind: z.enum(['podman', 'docker']),
  environment: z.record(z.string(), z.string()),
  user: z.object({ uid: z.number(), gid: z.number() }).nullable(),
});

/** Must be written before the first container starts. */
export async function recordEngine(directory: string, instance: string, engine: Engine): Promise<void> {
  const { kind, environment, user } = engine;
  // A proxy's address may contain a password, and local containers need none.
  const local = Object.fromEntries(Object.entries(environment).filter(([name]) => !/_proxy$/i.test(name)));
  const text = JSON.stringify({ instance, kind, environment: local, user });
  await writeFile(join(directory, recordFile), text, { mode: 0o600 });
}

/** Removes every container of the instance, running or not; returns their number. Never rejects. */
export async function removeContainers(engine: Engine, instance: string): Promise<number> {
  const filter = `label=${instanceLabel}=${instance}`;
  const listed = await runEngine(engine, ['ps', '--all', '--quiet', '--no-trunc', '--filter', filter], timeoutMs);
  const ids = listed.ok ? listed.stdout.split('\n').filter((line) => line !== '') : [];
  if (ids.length > 0) await removeNow(engine, ids);
  return ids.length;
}

/** By name or id. Ignores missing containers. */
export async function removeNow(engine: Engine, containers: readonly string[]): Promise<void> {
  // rm alone would first wait for a graceful stop.
  await runEngine(engine, ['kill', ...containers], timeoutMs);
  await runEngine(engine, ['rm', '--force', ...containers], timeoutMs);
}

/** For an agent that finds an earlier agent's containers, or that ends for good. Never rejects. */
export async function removeRecordedContainers(directory: string): Promise<number> {
  try {
    const { instance, ...engine } = record.parse(JSON.parse(await readFile(join(directory, recordFile), 'utf8')));
    return await removeContainers(engine, instance);
  } catch {
    // No record exists, so no container was started.
    return 0;
  }
}

const timeoutMs = 30_000;
