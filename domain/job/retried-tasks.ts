// Which tasks of an ended job a retry runs.
/** Code of a job that was cancelled because one that had to succeed first did not. */
export const dependencyFailed = 'DEPENDENCY_FAILED';

export interface EndedJob {
  status: string;
  reason: { code: string } | null;
  tasks: { error: number; cancelled: number };
}

/**
 * Failed tasks; and those that never ran or were ended because the job ended with an error of its own: no instances, a timeout, a
 * budget, a job that had to succeed first. Of such a job nothing says which of them a user had cancelled before. Otherwise cancelled tasks are run again only when asked
 * for, together with the failed ones.
 */
export function retriedStates(
  { status, reason, tasks }: EndedJob,
  asked: { cancelled?: boolean | undefined },
): ('error' | 'cancelled')[] {
  const endedByItself =
    (status === 'error' && reason !== null && reason.code !== 'TASKS_FAILED') || reason?.code === dependencyFailed;
  const cancelled = tasks.cancelled > 0 && (endedByItself || asked.cancelled === true);
  return [...(tasks.error > 0 ? ['error' as const] : []), ...(cancelled ? ['cancelled' as const] : [])];
}
