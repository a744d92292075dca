// One group commit per workflow, for one kind of update. Idle ones are dropped, so their number is bounded by the workflows in use.
import {
  createGroupCommit,
  type FlushOutcome,
  type FlushWatch,
  type GroupCommit,
  type SubmitOptions,
  type Submitted,
} from './group-commit.ts';

export interface GroupCommits<I, O> {
  submit(workflowId: string, item: I, options?: SubmitOptions): Promise<Submitted<O>>;
  /** Number of workflows with a group commit. */
  size(): number;
}

export function createGroupCommits<I, O>(options: {
  flush: (workflowId: string, items: I[]) => Promise<FlushOutcome<O>>;
  answerBytes?: (item: I) => number;
  watch?: FlushWatch;
}): GroupCommits<I, O> {
  const { flush, ...rest } = options;
  const groups = new Map<string, { group: GroupCommit<I, O>; usedAtMs: number }>();
  let sweptAtMs = 0;

  const sweep = (nowMs: number): void => {
    if (nowMs - sweptAtMs < idleAfterMs) return;
    sweptAtMs = nowMs;
    for (const [workflowId, { group, usedAtMs }] of groups) {
      if (group.isIdle() && nowMs - usedAtMs >= idleAfterMs) groups.delete(workflowId);
    }
  };

  return {
    submit(workflowId, item, submitOptions) {
      const nowMs = performance.now();
      sweep(nowMs);
      const known = groups.get(workflowId);
      const group = known?.group ?? createGroupCommit<I, O>({ ...rest, flush: (items) => flush(workflowId, items) });
      groups.set(workflowId, { group, usedAtMs: nowMs });
      return group.submit(item, submitOptions);
    },
    size: () => groups.size,
  };
}

const idleAfterMs = 60_000;
