// Selects the tasks of an ended job that a retry runs.
/** Code of a job that was cancelled because a job that had to succeed first did not. */
export const dependencyFailed = 'DEPENDENCY_FAILED';

export interface EndedJob {
  status: string;
  reason: { code: string } | null;
  tasks: { error: number; cancelled: number };
}

/**
 * Failed tasks, and tasks that never ran or were ended because the job ended with its own error: no instances, a timeout, a budget, a failed
 * dependency. Such a job has no record of which tasks a user had cancelled before. Otherwise cancelled tasks run again, together with the failed
 * ones, only on request.
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
