// The agent: the process that is an instance. It claims the instance's name, registers, and runs the job's tasks or
// the cluster's Dask process until it is told that there is no more work. It only dials out, and never takes a credential of the control plane.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';

import { runAgent } from './agent.ts';
import { readBoot } from './boot.ts';
import { claimInstance, endWhenUnwanted } from './claim.ts';
import { deadManExitCode } from './dead-man-watch.ts';
import { agentLogLimits, createLog } from './log.ts';
import { powerOff } from './power-off.ts';
import { killStrays } from './strays.ts';

const instance = required('ROPEWALK_INSTANCE');
const directory = required('ROPEWALK_INSTANCE_DIR');
const logDirectory = required('ROPEWALK_LOG_DIR');
const bootId = randomBytes(16).toString('hex');

if (!(await claimInstance(directory, bootId))) process.exit(0);

const log = createLog(join(logDirectory, 'agent.jsonl'), agentLogLimits);
const stopping = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  process.on(signal, () => stopping.abort({ code: signal, text: `The agent was asked to end by ${signal}.` }));
}
await endWhenUnwanted(directory, stopping);

let exitCode = 0;
try {
  if (!stopping.signal.aborted) {
    const boot = await readBoot(directory);
    const environment = process.env;
    exitCode = await runAgent({ instance, bootId, boot, directory, logDirectory, environment, log, stopping });
    if (exitCode === deadManExitCode) {
      // Nobody else will look after what is left here.
      const strays = killStrays(instance);
      if (strays > 0) log.write(`${strays} processes that had left their group were killed.`);
      await powerOff(boot.powerOff, log);
    }
  }
} catch (error) {
  exitCode = 1;
  log.write(`The agent failed: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`);
}
await log.close();
process.exit(exitCode);

function required(name: string): string {
  const value = process.env[name];
  if (value !== undefined && value !== '') return value;
  process.stderr.write(`The agent needs ${name} in its environment; the provider that starts it sets it.\n`);
  process.exit(2);
}
