// The agent: the process that represents an instance. It claims the instance's name, registers, and runs the job's tasks or the
// cluster's Dask process until the API answers that there is no more work. It only makes outbound connections, and never gets a
// credential of the control plane.
import { randomBytes } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';

import { runAgent } from './agent.ts';
import { cloudStart } from './clouds.ts';
import { claimInstance, endWhenUnwanted } from './lifecycle/claim.ts';
import { watchdogExitCode } from './lifecycle/watchdog-timer.ts';
import { sayLastWords } from './lifecycle/failure.ts';
import { createLogs } from './logs/logs.ts';
import { powerOff } from './lifecycle/power-off.ts';
import { start } from './lifecycle/start.ts';
import type { Start } from './lifecycle/start-input.ts';
import { joinControlGroup, leaveControlGroup } from './processes/control-group.ts';
import { killOrphans } from './processes/orphans.ts';
import { findTaskUser, letPass } from './processes/task-user.ts';
import { removeRecordedContainers } from './runtimes/container/containers.ts';

// On a cloud the metadata service identifies the instance, and the agent creates its own directories.
const isOnCloud = cloudStart(process.env) !== null;
const instanceName = isOnCloud ? null : required('ROPEWALK_INSTANCE');
const directory = required('ROPEWALK_INSTANCE_DIR');
const logDirectory = required('ROPEWALK_LOG_DIR');
// A systemd service has no HOME, which Python's tools need.
const environment = { HOME: homedir(), ...process.env };
const bootId = randomBytes(16).toString('hex');

// Elsewhere a missing directory means that this instance has ended.
for (const each of isOnCloud ? [directory, logDirectory] : []) await mkdir(each, { recursive: true, mode: 0o700 });
// Before any process is started. A VM needs no group: nothing outlives it.
const controlGroup = instanceName === null ? null : joinControlGroup(instanceName);
if (!(await claimInstance(directory, bootId, controlGroup))) {
  leaveControlGroup(controlGroup);
  // On a cloud the agent with the claim is dead, or this one would not have been started.
  if (isOnCloud) await removeRecordedContainers(directory);
  process.exit(0);
}

const logs = createLogs(logDirectory);
const log = logs.agent();
let started: Start | null = null;
// Includes unhandled rejections.
process.on('uncaughtException', (error) => {
  process.stderr.write(`${error.stack ?? error.message}\n`);
  void sayLastWords(error, { log, flush: async () => started?.flush() }).finally(() => process.exit(1));
});
const stopping = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => stopping.abort({ code: signal, text: `The agent was asked to end by ${signal}.` }));
}
await endWhenUnwanted(directory, stopping);

let exitCode = 0;
try {
  if (!stopping.signal.aborted) {
    started = await start({ directory, environment, logs, log, signal: stopping.signal });
    const user = await findTaskUser(environment);
    await letPass(user, [directory, join(directory, 'work'), started.boot.cacheDir]);
    exitCode = await runAgent({ ...started, bootId, directory, logs, environment, log, stopping, user });
    if (exitCode === watchdogExitCode) {
      // No other process will clean up here.
      const orphans = killOrphans(started.instance, controlGroup);
      if (orphans > 0) log.write(`${orphans} orphaned processes were killed.`);
      const containers = await removeRecordedContainers(directory);
      if (containers > 0) log.write(`${containers} containers were removed.`);
      await started.flush();
      await powerOff(started.boot.powerOff, log);
    }
  }
} catch (error) {
  exitCode = 1;
  log.write(`The agent failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
  // This agent has not registered yet, so the next one that systemd starts may be this instance.
  if (isOnCloud && started === null) await rm(join(directory, 'claim.json'), { force: true });
}
await log.close();
await started?.flush();
leaveControlGroup(controlGroup);
process.exit(exitCode);

function required(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== '') return value;
  process.stderr.write(`The agent needs ${name} in its environment; the provider that starts it sets it.\n`);
  process.exit(2);
}
