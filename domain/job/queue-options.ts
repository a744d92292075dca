// The queue options `after`, `after-ok` and `priority`, from a request and the header of its script.
import { maxAwaited, maxPriority, minPriority, type QueueRequest } from '../admission/queue.ts';
import { integer, invalid, type KnownOptions } from './header-values.ts';

export interface QueueInput {
  /** Job numbers. */
  after?: readonly number[] | undefined;
  afterOk?: readonly number[] | undefined;
  priority?: number | undefined;
}

/** Returns no queue entry for a job that is admitted at once or refused. Throws VALIDATION. */
export function readQueue(input: QueueInput, known: KnownOptions): { queue?: QueueRequest } {
  const after = input.after ?? numbers(known, 'after');
  const afterOk = input.afterOk ?? numbers(known, 'after-ok');
  const priority = input.priority ?? integer(known, 'priority', minPriority, maxPriority);
  if (after === undefined && afterOk === undefined && priority === undefined) return {};
  // A job that is in both lists has to succeed.
  const needsSuccess = new Set(afterOk);
  const others = new Set((after ?? []).filter((number) => !needsSuccess.has(number)));
  return {
    queue: {
      priority: priority ?? 0,
      after: [
        ...[...others].map((number) => ({ number, needsSuccess: false })),
        ...[...needsSuccess].map((number) => ({ number, needsSuccess: true })),
      ],
    },
  };
}

function numbers(known: KnownOptions, name: 'after' | 'after-ok'): number[] | undefined {
  const option = known.get(name);
  if (option === undefined) return undefined;
  const parts = option.value.split(',').map((part) => part.trim());
  const isRight = parts.every((part) => /^[1-9][0-9]{0,14}$/.test(part)) && parts.length <= maxAwaited;
  if (isRight) return parts.map(Number);
  throw invalid(option, 'is not a list of job numbers', `Write for example: # ROPEWALK ${name} 12,13`);
}
