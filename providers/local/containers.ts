// The containers of an instance. Their processes are not the agent's children, and a container that clears its environment
// would not be found, so the engine finds them by their label. containers.json, written by the agent before its first
// container, names the engine.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

import { z } from 'zod';

const record = z.object({
  kind: z.enum(['podman', 'docker']),
  environment: z.record(z.string(), z.string()),
});

/** An unresponsive engine must not block the termination of instances. */
const timeoutMs = 30_000;
/** An engine that lost a container's monitor fails the first attempts because it cannot read the exit code. */
const attempts = 3;

/** Does nothing for an instance without containers. Rejects when the engine leaves one. */
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
    // rm alone would first wait for a graceful stop. Containers that end meanwhile remove themselves.
    await engine('kill', ...ids).catch(() => undefined);
    await engine('rm', '--force', ...ids).catch(() => undefined);
  }
}
