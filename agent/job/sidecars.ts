// Containers that run beside the tasks of the head instance until the job has ended.
import { mkdir } from 'node:fs/promises';

import type { Bundle } from '../../schema/agent.ts';
import type { AgentInput } from '../lifecycle/input.ts';
import { rememberLastLines } from '../logs/last-lines.ts';
import { freshPath, handOver } from '../processes/hand-over.ts';
import type { RunningCommand } from '../processes/start-process.ts';
import { prepareContainer } from '../runtimes/container/prepare.ts';
import { taskBase } from '../runtimes/inherited-variables.ts';
import type { Runtime } from '../runtimes/runtime.ts';

type Sidecar = NonNullable<Bundle['sidecars']>[number];

export interface Sidecars {
  /** Resolves with a sentence when a sidecar has ended by itself. Never rejects. */
  ended: Promise<string>;
  /** Ends all sidecars: TERM, then KILL. */
  stop: () => Promise<void>;
}

type SidecarsInput = Pick<
  AgentInput,
  'instance' | 'boot' | 'directory' | 'logs' | 'environment' | 'log' | 'user' | 'registryLogin' | 'stopping'
>;

const killAfterMs = 5_000;

/** Rejects with a reason for people when an image is unavailable or a container does not start; then none is left running. */
export async function startSidecars(sidecars: readonly Sidecar[], input: SidecarsInput): Promise<Sidecars> {
  // All images first: the preparation of one removes the containers of the instance.
  const prepared: { sidecar: Sidecar; runtime: Runtime }[] = [];
  for (const sidecar of sidecars)
    prepared.push({ sidecar, runtime: await prepareContainer(sidecar.container, { ...input, needsDask: false }) });
  const running: Started[] = [];
  let isStopping = false;
  const stop = async (): Promise<void> => {
    isStopping = true;
    for (const { command } of running) command.end(killAfterMs);
    await Promise.all(running.map(({ command }) => command.ended));
  };
  try {
    for (const one of prepared) running.push(await start(one, input));
  } catch (error) {
    await stop();
    throw error;
  }
  const ended = new Promise<string>((resolve) => {
    for (const { end } of running) void end.then((text) => (isStopping ? undefined : resolve(text)));
  });
  return { ended, stop };
}

interface Started {
  command: RunningCommand;
  /** Why it has ended. */
  end: Promise<string>;
}

async function start(
  { sidecar, runtime }: { sidecar: Sidecar; runtime: Runtime },
  { instance, directory, logs, environment, log, user }: SidecarsInput,
): Promise<Started> {
  const { name, command, env } = sidecar;
  const cwd = freshPath(directory, 'sidecar');
  await mkdir(cwd, { mode: 0o700 });
  await handOver(user, cwd);
  const output = logs.process();
  const last = rememberLastLines({
    ...output,
    append: (stream, lines) =>
      output.append(
        stream,
        lines.map((line) => `[${name}] ${line}`),
      ),
  });
  const variables = { ...runtime.variables(taskBase(environment), env), ROPEWALK_INSTANCE: instance };
  const started = await runtime.start(
    { argv: command, env: variables, cwd },
    { output: last.sink, pipeDirectory: directory },
  );
  log.write(`The sidecar ${name} has started.`);
  const end = started.ended.then(async ({ exitCode, signal }) => {
    await output.close();
    const how = exitCode === null ? `was ended by ${signal}` : `ended with exit code ${exitCode}`;
    return `The sidecar ${name} ${how} while the job was running. ${last.sentence()}`;
  });
  return { command: started, end };
}
