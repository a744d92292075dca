// Replays a history with a Temporal worker's workflow code, and returns the SDK's message if the code does not follow it. The
// replay runs in its own process with a bounded heap, low priority and a deadline: a long history blocks neither the worker's
// event loop nor one of its workflow task slots.
import { fork, type ChildProcess } from 'node:child_process';
import { setPriority } from 'node:os';

import proto from '@temporalio/proto';
import type { ReplayWorkerOptions } from '@temporalio/worker';

const { History } = proto.temporal.api.history.v1;
type History = proto.temporal.api.history.v1.IHistory;

/** The worker's workflow code; the replay has no activities and no connection. */
export type WorkflowCode = Pick<ReplayWorkerOptions, 'workflowBundle' | 'workflowsPath' | 'interceptors'>;

export interface ReplayRequest {
  code: WorkflowCode;
  workflowId: string;
  /** Protobuf-encoded. */
  history: Uint8Array;
}

export type ReplayAnswer = { violation: string | null } | { error: string };

export interface ReplayLimits {
  /** Limit of one replay, including the start of the process. */
  timeoutMs: number;
  heapMb: number;
  /** The process ends after this time without a replay. */
  idleMs: number;
}

const usualLimits: ReplayLimits = { timeoutMs: 120_000, heapMb: 512, idleMs: 10_000 };
/** The `nice` value: the worker has priority, and a busy machine still gives the replay a share. */
const priority = 5;

/** Replays run one at a time, in the order of the calls. Rejects when one takes too long or too much memory. */
export function createReplayer(code: WorkflowCode, limits: Partial<ReplayLimits> = {}) {
  const { timeoutMs, heapMb, idleMs } = { ...usualLimits, ...limits };
  let child: ChildProcess | null = null;
  let idle: NodeJS.Timeout | undefined;
  let last: Promise<unknown> = Promise.resolve();

  const end = (): void => {
    child?.kill('SIGKILL');
    child = null;
  };
  const replay = async (request: ReplayRequest): Promise<string | null> => {
    clearTimeout(idle);
    child ??= start(heapMb);
    try {
      const answer = await ask(child, request, timeoutMs);
      if ('error' in answer) throw new Error(answer.error);
      idle = setTimeout(end, idleMs).unref();
      return answer.violation;
    } catch (error) {
      end();
      throw error;
    }
  };
  return (history: History, workflowId: string): Promise<string | null> => {
    const request = { code, workflowId, history: History.encode(history).finish() };
    const answer = last.then(() => replay(request));
    last = answer.catch(() => undefined);
    return answer;
  };
}

function start(heapMb: number): ChildProcess {
  const script = new URL('replay-process.ts', import.meta.url);
  const workflowVm = new URL('workflow-vm.ts', import.meta.url);
  const child = fork(script, {
    execArgv: [`--max-old-space-size=${heapMb}`, '--import', workflowVm.href],
    // The replay needs none of the worker's secrets.
    env: {},
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    // Transfers byte arrays unchanged.
    serialization: 'advanced',
  });
  if (child.pid !== undefined) setPriority(child.pid, priority);
  // The process ends with its parent, which does not wait for it.
  child.unref();
  child.channel?.unref();
  return child;
}

function ask(child: ChildProcess, request: ReplayRequest, timeoutMs: number): Promise<ReplayAnswer> {
  return new Promise((resolve, reject) => {
    const settle = (): void => {
      clearTimeout(timer);
      child.removeAllListeners();
    };
    const fail = (why: string): void => {
      settle();
      reject(new Error(`The replay of ${request.workflowId} ${why}.`));
    };
    const timer = setTimeout(() => fail(`took longer than ${timeoutMs / 1_000} s`), timeoutMs);
    child.once('message', (answer: ReplayAnswer) => {
      settle();
      resolve(answer);
    });
    child.once('error', (error) => fail(`could not begin: ${error.message}`));
    child.once('exit', (code, signal) => fail(`ended with ${signal ?? `exit code ${code}`}`));
    child.send(request, (error) => {
      if (error !== null) fail(`could not begin: ${error.message}`);
    });
  });
}
