// Answers each item of a flush on its own. An ApplicationFailure from a handler would fail the whole update; any other error would fail the workflow
// task again and again.
import { log } from '@temporalio/workflow';

import type { Flush, FlushAnswer, ItemAnswer } from '../contracts/flush.ts';

export function answerEach<I, O>(flush: Flush<I>, answer: (item: I) => ItemAnswer<O>): FlushAnswer<O> {
  return { items: flush.items.map((item) => guarded(item, answer)) };
}

function guarded<I, O>(item: I, answer: (item: I) => ItemAnswer<O>): ItemAnswer<O> {
  try {
    return answer(item);
  } catch (error) {
    log.error('an item of a flush could not be answered', { error: String(error) });
    return { error: { code: 'INTERNAL', message: 'This request could not be carried out; the others were.' } };
  }
}
