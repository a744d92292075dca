// The containers of an instance. Their processes are not the agent's children, and one that empties its environment would not be
// found; the engine finds it by its label. containers.json, written by the agent before its first container, names the engine.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

import { z } from 'zod';

const record = z.object({
  kind: z.enum(['podman', 'docker']),
  environment: z.record(z.string(), z.string()),
});

/** An engine that does not answer must not hold the termination of instances. */
const timeoutMs = 30_000;
/** An engine that lost its monitor of a container first fails to learn its exit code. */
const attempts = 3;

/** Without effect for an instance that ran no container. Rejects when the engine leaves one. */
export async function removeContainers(instance: string, recordPath: string): Promise<void> {
  const text = await readFile(recordPath, 'utf8').catch(() => null);
  if (text === null) return;
  const { kind, environment } = record.parse(JSON.parse(text));
  const engine = async (...args: string[]): Promise<string> =>
    (await promisify(execFile)(kind, args, { env: environment, timeout: timeoutMs })).stdout;
  const filter = `label=ropewalk.instance=${instance}`;
  const list = async (): Promise<string[]> =>
    (await engine('ps', '--all', '--quiet', '--no-trunc', '--filter', filter)).split('\n').filter((id) => id !== '');
  for (let attempt = 1; ; attempt += 1) {
    const ids = await list();
    if (ids.length === 0) return;
    if (attempt > attempts) throw new Error(`${kind} leaves ${ids.length} containers of instance ${instance}`);
    // rm by itself would first wait for the container to end in order. What has just ended is gone by itself.
    await engine('kill', ...ids).catch(() => undefined);
    await engine('rm', '--force', ...ids).catch(() => undefined);
  }
}
