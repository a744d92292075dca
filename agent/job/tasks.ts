// Prepares one granted task: its environment variables, command line, fresh directory and log. The directory is removed after
// the attempt: thousands of tasks must not fill the disk with copies of the job's files.
import { join } from 'node:path';

import type { Bundle } from '../../schema/agent.ts';
import type { Session } from '../api-client/session.ts';
import type { AgentInput } from '../lifecycle/input.ts';
import { recordGroup } from '../processes/group-record.ts';
import { giveContents, giveDirectory, removeDirectory } from '../processes/hand-over.ts';
import { taskBase } from '../runtimes/inherited-variables.ts';
import type { Runtime } from '../runtimes/runtime.ts';
import type { ClusterContext } from './cluster-context.ts';
import { resolveCommand } from './command.ts';
import type { Grant } from './exchange-state.ts';
import { createTaskFiles } from '../files/task.ts';
import { createTransfers } from '../files/transfers.ts';
import { startTask } from './run-task.ts';
import type { TaskRun } from './run-task.ts';
import { taskEnvironment } from './task-environment.ts';
import { prepareDirectory, unpackFiles } from './task-files.ts';
import { createTaskInputs } from './task-inputs.ts';

export interface TaskStarterInput extends Pick<
  AgentInput,
  'instance' | 'boot' | 'directory' | 'logs' | 'environment' | 'user'
> {
  bundle: Bundle;
  runtime: Runtime;
  session: Session;
}

export interface TaskStarter {
  /** `begun` is called when the command has started. */
  start: (grant: Grant, clusterContext: ClusterContext, begun: () => void) => TaskRun;
  /** Resolves when the directories of all ended tasks are removed. */
  cleaned: () => Promise<void>;
}

export function createTaskStarter(input: TaskStarterInput): TaskStarter {
  const { instance, boot, bundle, runtime, directory, logs, environment, session, user } = input;
  const files = unpackFiles(bundle.files);
  const transfers = createTransfers({ session, apiUrl: boot.apiUrl });
  const taskFiles = createTaskFiles({ bundle, session, transfers, directory });
  const inputsOf = createTaskInputs(bundle.inputs, transfers, join(directory, 'input-list'));
  let cleaned = Promise.resolve();
  // The next task's result need not wait for the removal, the one after it does: at most two directories exist.
  const cleanUp = async (cwd: string): Promise<void> => {
    await cleaned;
    cleaned = removeDirectory(cwd, user).catch(() => undefined);
  };
  const start: TaskStarter['start'] = (grant, clusterContext, begun) => {
    const name = `${grant.taskId}-${grant.attempt}`;
    const cwd = join(directory, 'work', name);
    const environmentWith = (inputs: Record<string, string>): Record<string, string> =>
      taskEnvironment({
        instance,
        address: boot.address,
        variables: runtime.variables(taskBase(environment), bundle.env),
        inputs,
        taskCount: bundle.taskCount,
        registered: session.registered(),
        grant,
        answer: clusterContext,
      });
    const log = logs.task(grant.taskId, grant.attempt);
    const ofTask = taskFiles({ grant, cwd, say: log.write });
    return startTask({
      runtime,
      pipeDirectory: directory,
      log: { ...log, ...ofTask.tee },
      prepare: async (signal) => {
        const env = environmentWith(await inputsOf(grant.task, signal));
        await prepareDirectory(cwd, files, user);
        await ofTask.placeInputs(signal);
        // The owner changes first, because a later change would count as a change of the files.
        await giveContents(user, cwd);
        await ofTask.begin();
        await giveDirectory(user, cwd);
        return { argv: resolveCommand(bundle.command, { values: env, secret: bundle.secretNames }, files), env, cwd };
      },
      keepFiles: ofTask.keep,
      started: (pid) => {
        recordGroup(directory, pid);
        begun();
      },
      cleanUp: async () => {
        await ofTask.cleanUp();
        await cleanUp(cwd);
      },
      timeoutMs: bundle.taskTimeoutMs ?? undefined,
    });
  };
  return { start, cleaned: () => cleaned };
}
