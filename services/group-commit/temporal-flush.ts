// Sends one flush as one workflow update. The update id is new for each flush and kept by its retries: within a run Temporal applies it once; across
// continue-as-new the items' own operation ids make a repeat safe.
import { randomUUID } from 'node:crypto';

import { RopewalkError } from '../../domain/errors.ts';
import { updateDeadlineMs } from '../../domain/workflow-limits.ts';
import type { Flush, FlushAnswer } from '../../contracts/flush.ts';
import type { WorkflowsPort } from '../workflows-port.ts';
import type { FlushOutcome } from './group-commit.ts';

export function createTemporalFlush<I, O>(
  workflows: Pick<WorkflowsPort, 'update'>,
  updateName: string,
): (workflowId: string, items: I[]) => Promise<FlushOutcome<O>> {
  return async (workflowId, items) => {
    const updateId = randomUUID();
    const deadlineAtMs = performance.now() + updateDeadlineMs;
    for (let attempt = 1; attempt <= maxAttempts && performance.now() < deadlineAtMs; attempt += 1) {
      const outcome = await workflows.update<Flush<I>, FlushAnswer<O>>(
        workflowId,
        updateName,
        { items },
        {
          updateId,
          deadlineAtMs,
        },
      );
      if (outcome.kind === 'done') return { kind: 'answers', items: outcome.value.items };
      if (outcome.kind !== 'aborted') return { kind: 'closed' };
      // The workflow's next run or attempt starts within moments; the pause only keeps retries from overloading a failing start.
      await pause(attempt * retryPauseMs);
    }
    throw new RopewalkError(
      {
        code: 'UNAVAILABLE',
        message: 'The workflow could not take the request, each time it was asked. Nothing was changed.',
        hint: 'Try again.',
      },
      { retryAfterMs: 1_000 },
    );
  };
}

const maxAttempts = 5;
const retryPauseMs = 20;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));
