// Where an instance's lines go: to files on its disk, bounded, and from there on also to its cloud's logs, once there is
// somebody who sends them. Then the files of tasks that are over are kept only up to a bound; elsewhere they are what the
// provider's logs() reads, and stay.
import { join } from 'node:path';

import { maxClosedLogBytes } from '../../domain/limits.ts';
import { createClosedLogs } from './closed-logs.ts';
import { agentLogLimits, createLog, processLogLimits, taskLogLimits } from './log.ts';
import type { Log, LogFile } from './log.ts';

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

export function createLogs(directory: string, maxClosedBytes: number = maxClosedLogBytes): Logs {
  const also: { sender: LogSender | null } = { sender: null };
  const closedLogs = createClosedLogs(maxClosedBytes);
  const open = (file: string, origin: { task?: number; attempt?: number }, limits = taskLogLimits): LogFile => {
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
    task: (taskId, attempt) => {
      const log = open(`${taskId}-${attempt}.jsonl`, { task: taskId, attempt });
      const close = async (): Promise<void> => {
        await log.close();
        if (also.sender !== null) await closedLogs.add(log);
      };
      return { ...log, close };
    },
    sendTo: (sender) => (also.sender = sender),
  };
}
