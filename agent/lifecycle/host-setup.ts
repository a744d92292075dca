// Runs the host setup script of a job or a cluster: once per instance, as the agent's own user, before anything else of the job
// or cluster starts there. Its output is in the instance's logs.
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

import { rememberLastLines } from '../logs/last-lines.ts';
import { recordGroup } from '../processes/group-record.ts';
import { startProcess } from '../processes/start-process.ts';
import type { AgentInput } from './input.ts';

/** Between TERM and KILL, when the agent is stopped or the script takes too long. */
const killAfterMs = 2_000;
/** A hanging script would otherwise cost money for as long as its job may wait. */
const defaultTimeoutMs = 30 * 60_000;

export interface HostSetup extends Pick<AgentInput, 'instance' | 'directory' | 'logs' | 'log' | 'stopping'> {
  /** The text of the script; null for none. */
  script: string | null;
  /** Environment variables of the script. */
  variables: Record<string, string>;
  /** Default: 30 minutes. */
  timeoutMs?: number;
}

/** Rejects with a user-facing reason when the script fails, and with the stop order's reason. */
export async function runHostSetup({
  script,
  variables,
  timeoutMs = defaultTimeoutMs,
  ...input
}: HostSetup): Promise<void> {
  if (script === null) return;
  const { instance, directory, logs, log, stopping } = input;
  const cwd = join(directory, 'host-setup');
  await mkdir(cwd, { recursive: true, mode: 0o700 });
  const path = join(cwd, 'script');
  await writeFile(path, script, { mode: 0o700 });
  const output = logs.process();
  const last = rememberLastLines(output);
  const env = { ...variables, ROPEWALK_INSTANCE: instance };
  const startedMs = performance.now();
  const running = await startProcess(
    { argv: script.startsWith('#!') ? [path] : ['bash', path], env, cwd },
    { output: last.sink, pipeDirectory: directory, started: (pid) => recordGroup(directory, pid) },
  ).catch((error: unknown) => {
    throw new Error(
      `The host setup script could not be started: ${error instanceof Error ? error.message : String(error)}`,
    );
  });
  const stop = (): void => running.end(killAfterMs);
  stopping.signal.addEventListener('abort', stop, { once: true });
  let isTooLate = false;
  const limit = setTimeout(() => {
    isTooLate = true;
    running.end(killAfterMs);
  }, timeoutMs);
  const { exitCode, signal } = await running.ended;
  clearTimeout(limit);
  stopping.signal.removeEventListener('abort', stop);
  await output.close();
  stopping.signal.throwIfAborted();
  const took = `after ${((performance.now() - startedMs) / 1000).toFixed(1)} s`;
  if (exitCode !== 0 || isTooLate) {
    const how = isTooLate
      ? `had not ended and was stopped`
      : exitCode === null
        ? `was ended by ${signal}`
        : `ended with exit code ${exitCode}`;
    throw new Error(`The host setup script ${how} ${took}. ${last.sentence()}`);
  }
  log.write(`The host setup script is done ${took}.`);
}
