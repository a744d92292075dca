// Where an instance's lines go: to files on its disk, bounded, and from there on also to its cloud's logs, once there is
// somebody who sends them.
import { join } from 'node:path';

import { agentLogLimits, createLog, processLogLimits, taskLogLimits } from './log.ts';
import type { Log } from './log.ts';

export interface Logs {
  /** The agent's own. */
  agent(): Log;
  /** What its Dask process prints. */
  process(): Log;
  task(taskId: number, attempt: number): Log;
  /** From now on every line goes there too, from logs that are open already as well. */
  sendTo(sender: LogSender): void;
}

export interface LogSender {
  /** Never waits. */
  add(origin: { task?: number; attempt?: number }, stream: string, lines: readonly string[]): void;
}

export function createLogs(directory: string): Logs {
  const also: { sender: LogSender | null } = { sender: null };
  const open = (file: string, origin: { task?: number; attempt?: number }, limits = taskLogLimits): Log => {
    const log = createLog(join(directory, file), limits);
    return {
      ...log,
      write: (text) => {
        also.sender?.add(origin, 'agent', [text]);
        log.write(text);
      },
      append: (stream, lines) => {
        also.sender?.add(origin, stream, lines);
        return log.append(stream, lines);
      },
    };
  };
  return {
    agent: () => open('agent.jsonl', {}, agentLogLimits),
    process: () => open('process.jsonl', {}, processLogLimits),
    task: (taskId, attempt) => open(`${taskId}-${attempt}.jsonl`, { task: taskId, attempt }),
    sendTo: (sender) => (also.sender = sender),
  };
}
