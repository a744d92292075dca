// Makes one granted task ready to run: its environment, its command line, its fresh directory, its log. The directory is
// removed when the attempt is over: ten thousand tasks must not fill a disk with ten thousand copies of the job's files.
import { join } from 'node:path';

import type { Bundle } from '../../schema/agent.ts';
import type { Boot } from '../lifecycle/boot.ts';
import { resolveCommand } from './command.ts';
import { taskEnvironment } from './task-environment.ts';
import { taskBase } from '../runtimes/inherited-variables.ts';
import { recordGroup } from '../processes/group-record.ts';
import type { Logs } from '../logs/logs.ts';
import type { Session } from '../api-client/session.ts';
import { startTask } from './run-task.ts';
import type { TaskRun } from './run-task.ts';
import type { Grant } from './exchange-state.ts';
import type { Surroundings } from './cluster-context.ts';
import { prepareDirectory, removeDirectory, unpackFiles } from './task-files.ts';

export interface TaskStarterInput {
  instance: string;
  boot: Boot;
  bundle: Bundle;
  directory: string;
  logs: Logs;
  environment: Record<string, string | undefined>;
  session: Session;
}

export interface TaskStarter {
  start: (grant: Grant, surroundings: Surroundings) => TaskRun;
  /** Every directory of a task that is over has been removed. */
  cleaned: () => Promise<void>;
}

export function createTaskStarter(input: TaskStarterInput): TaskStarter {
  const { instance, boot, bundle, directory, logs, environment, session } = input;
  const files = unpackFiles(bundle.files);
  let cleaned = Promise.resolve();
  // The next task's result need not wait for the disk, the next but one does: there are never more than two directories.
  const cleanUp = async (cwd: string): Promise<void> => {
    await cleaned;
    cleaned = removeDirectory(cwd).catch(() => undefined);
  };
  const start: TaskStarter['start'] = (grant, surroundings) => {
    const name = `${grant.taskId}-${grant.attempt}`;
    const cwd = join(directory, 'work', name);
    const registered = session.registered();
    const env = taskEnvironment({
      instance,
      address: boot.address,
      base: taskBase(environment),
      job: bundle.env,
      registered,
      grant,
      answer: surroundings,
    });
    return startTask({
      argv: resolveCommand(bundle.command, env, files),
      env,
      cwd,
      pipeDirectory: directory,
      log: logs.task(grant.taskId, grant.attempt),
      prepare: () => prepareDirectory(cwd, files),
      started: (pid) => recordGroup(directory, pid),
      cleanUp: () => cleanUp(cwd),
    });
  };
  return { start, cleaned: () => cleaned };
}
