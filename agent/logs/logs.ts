// Writes an instance's lines to bounded files on its disk, and to the logs of its cloud once a sender exists. From then on the
// files of ended tasks are only kept up to a limit. Without a sender they stay, because the provider's logs() reads them.
import { join } from 'node:path';

import { createClosedLogs } from './closed-logs.ts';
import { agentLogLimits, createLog, processLogLimits, taskLogLimits } from './log.ts';
import type { Log, LogFile } from './log.ts';

/** For a default disk of 30 GiB: files of ended tasks, on an instance that ships its logs. */
const maxClosedLogBytes = 2 * 1024 * 1024 * 1024;

export interface Logs {
  /** The agent's own log. */
  agent(): Log;
  /** The log of its Dask process. */
  process(): Log;
  task(taskId: number, attempt: number): Log;
  /** From now on every line is also sent there, including those of open logs. */
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
