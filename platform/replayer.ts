// Puts the workflow code that this process runs to the test: whether it follows a history, and if not, in the SDK's words.
import { Worker, type ReplayWorkerOptions } from '@temporalio/worker';

type History = Parameters<typeof Worker.runReplayHistory>[1];

/** `code` is what the process's own worker was made of; the replay has nothing else of it, no activities and no connection. */
export function createReplayer(code: Pick<ReplayWorkerOptions, 'workflowBundle' | 'workflowsPath' | 'interceptors'>) {
  return async (history: History, workflowId: string): Promise<string | null> => {
    try {
      await Worker.runReplayHistory(code, history, workflowId);
      return null;
    } catch (error) {
      if (!(error instanceof Error) || error.name !== 'DeterminismViolationError') throw error;
      // The SDK wraps the words with which a worker would fail the workflow task; they end at the quote.
      return /\[TMPRL1100\][^"]*/.exec(error.message)?.[0] ?? error.message;
    }
  };
}
