// What one workflow needs of another and cannot ask itself: workflows can only signal each other.
import { ApplicationFailure } from '@temporalio/activity';
import type { Client } from '@temporalio/client';

import { updateDeadlineMs } from '../domain/limits.ts';
import { deploymentId, deploymentMessages } from '../workflows/deployment/messages.ts';
import type { LeaseNumbersAnswer, LeaseNumbersItem } from '../workflows/deployment/messages.ts';
import type { Flush, FlushAnswer } from '../contracts/flush.ts';

export interface NumberActivities {
  /** The same operation id gets the same block, however often it is asked. */
  leaseNumbers(item: LeaseNumbersItem): Promise<LeaseNumbersAnswer>;
  /** The admission id in the memo of a workflow, or null when there is none. */
  admissionOf(input: { workflowId: string }): Promise<{ admissionId: string | null }>;
}

export function createNumberActivities(deps: { client: Client }): NumberActivities {
  return {
    async leaseNumbers(item) {
      const flush: Flush<LeaseNumbersItem> = { items: [item] };
      const handle = deps.client.workflow.getHandle(deploymentId);
      const answer = await deps.client.withDeadline(Date.now() + updateDeadlineMs, () =>
        handle.executeUpdate<FlushAnswer<LeaseNumbersAnswer>, [Flush<LeaseNumbersItem>]>(
          deploymentMessages.leaseNumbers,
          { args: [flush] },
        ),
      );
      const [first] = answer.items;
      if (first !== undefined && 'ok' in first) return first.ok;
      throw ApplicationFailure.create({ type: 'LeaseRefused', message: first?.error.message ?? 'no answer' });
    },

    async admissionOf({ workflowId }) {
      const description = await deps.client.workflow.getHandle(workflowId).describe();
      const admissionId = description.memo?.['admissionId'];
      return { admissionId: typeof admissionId === 'string' ? admissionId : null };
    },
  };
}
