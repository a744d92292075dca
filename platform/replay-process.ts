// The process in which replayer.ts replays histories: one request at a time, until its parent has ended.
import proto from '@temporalio/proto';
import { Worker } from '@temporalio/worker';

import type { ReplayAnswer, ReplayRequest } from './replayer.ts';

const { History } = proto.temporal.api.history.v1;

async function answer({ code, history, workflowId }: ReplayRequest): Promise<ReplayAnswer> {
  try {
    await Worker.runReplayHistory(code, History.decode(history), workflowId);
    return { violation: null };
  } catch (error) {
    if (!(error instanceof Error)) return { error: String(error) };
    if (error.name !== 'DeterminismViolationError') return { error: `${error.name}: ${error.message}` };
    // The SDK quotes the message with which a worker would fail the workflow task.
    return { violation: /\[TMPRL1100\][^"]*/.exec(error.message)?.[0] ?? error.message };
  }
}

process.on('message', (request: ReplayRequest) => {
  void answer(request).then((answered) => process.send?.(answered));
});
process.on('disconnect', () => process.exit(0));
