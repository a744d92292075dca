// A job as people see it: over HTTP, in the archive, and in the Temporal UI.
import type { JobState } from '../../domain/job/state.ts';
import { summarizeJob } from '../../domain/job/view.ts';
import { blankJob, queueOf } from '../../contracts/blank-views.ts';
import type { JobInput, JobView } from '../../contracts/job.ts';

export function viewJob(state: JobState, input: JobInput): JobView {
  const { settings } = state;
  return {
    number: state.number,
    workspace: state.workspace,
    name: settings.name,
    command: settings.command,
    user: input.user,
    ...summarizeJob(state),
    array: settings.array,
    provider: settings.provider,
    region: settings.machines?.region ?? null,
    instances: settings.instances,
    submittedAtMs: state.submittedAtMs,
    startedAtMs: state.startedAtMs,
    endedAtMs: state.endedAtMs,
    recentErrors: state.recentErrors,
    pagesWritten: state.pagesWritten,
    privateToCreator: input.privateToCreator,
    ...(settings.retryOf === undefined ? {} : { retryOf: settings.retryOf }),
    ...queueOf(settings),
    ...(state.tasksCancelled === undefined ? {} : { tasksCancelled: state.tasksCancelled }),
  };
}

/** Before the specification has been read, only what admission knew. */
export function pendingView({ number, workspace, name, user, privateToCreator }: JobInput): JobView {
  return blankJob({
    ...{ number, workspace, name, user, privateToCreator, command: '', array: '', taskCount: 0, instances: 0 },
    ...{ provider: '', region: null, status: 'pending', reason: null, submittedAtMs: 0, endedAtMs: null },
  });
}

/** Markdown for the Temporal UI; it costs no history event. */
export function describeJob(state: JobState): string {
  const { status, reason, tasks, counters } = summarizeJob(state);
  const lines = [
    `**${status}**${reason === null ? '' : `: ${reason.text}`}`,
    '',
    '| total | pending | assigned | running | done | error | cancelled |',
    '|---|---|---|---|---|---|---|',
    `| ${tasks.total} | ${tasks.pending} | ${tasks.assigned} | ${tasks.running} | ${tasks.done} | ${tasks.error} | ${tasks.cancelled} |`,
    '',
    `Attempts lost with their instance: ${counters.lost}. Retried: ${counters.retried}. Stale results refused: ${counters.stale}. Repeated: ${counters.repeated}.`,
    `Instances heard of: ${Object.keys(state.instances).length}. Leases handed out: ${state.nextLease - 1}.`,
  ];
  return lines.join('\n');
}
