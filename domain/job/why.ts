// Explains why a job runs or waits, has not more instances, or has ended. Pure, from its view and that of its cluster.
import {
  explainCapacity,
  explainEnd,
  explainFailedInstances,
  explainGpus,
  explainReason,
  type ClusterFacts,
} from '../cluster/why.ts';
import type { Reason } from '../reason.ts';
import { plural, registeredText } from '../units.ts';
import { clause, eventFact, fact, newestEvent, timeText, type WhySentence } from '../why.ts';
import type { FailureGroup } from './failure-groups.ts';
import { instancesFor } from './placement.ts';
import type { JobSettings } from './state.ts';
import type { JobSummary } from './summary.ts';

/** The fields of a job's view that this file uses, by structure. */
export interface JobFacts {
  status: JobSummary['status'];
  reason: Reason | null;
  tasks: JobSummary['tasks'];
  counters: Pick<JobSummary['counters'], 'lost' | 'retried'>;
  instances: number;
  submittedAtMs: number;
  startedAtMs: number | null;
  endedAtMs: number | null;
  recentErrors: readonly { attempt: number; text: string; atMs: number }[];
  failures?: readonly FailureGroup[];
}

export type JobCluster = Pick<ClusterFacts, 'instances' | 'waiting' | 'target' | 'failures' | 'gpus'>;

/** All events of its cluster, oldest first; empty until the cluster exists. */
type Events = ClusterFacts['events'];

/** From the job's specification. */
export type JobRules = Pick<JobSettings, 'gang' | 'headTasks'>;

/** `cluster`: null until it exists. `rules`: null once the specification was deleted. */
export function explainJob(
  job: JobFacts,
  cluster: JobCluster | null,
  rules: JobRules | null,
  events: Events,
): WhySentence[] {
  if (job.status === 'waiting') return [explainWait(job)];
  if (job.status !== 'pending' && job.status !== 'running') {
    return [explainEnd('job', { ...job, events }), ...explainErrors(job)];
  }
  return [
    explainState(job, cluster, rules),
    ...explainReason(job.reason, events),
    ...explainErrors(job),
    explainSize(job, rules, events),
    ...(cluster === null ? [] : explainCluster(cluster, events)),
  ];
}

function explainCluster(cluster: JobCluster, events: Events): WhySentence[] {
  const all = { ...cluster, events };
  return [
    ...explainReleased(cluster, events),
    ...explainCapacity(all),
    ...explainGpus(all),
    ...explainFailedInstances(all),
  ];
}

function explainWait({ reason, submittedAtMs }: JobFacts): WhySentence {
  const text = `The job waits since ${timeText(submittedAtMs)}: ${clause(reason?.text ?? 'it is in the queue.')}.`;
  return { about: 'state', text, facts: [fact('submitted', timeText(submittedAtMs), submittedAtMs)] };
}

function explainState(job: JobFacts, cluster: JobCluster | null, rules: JobRules | null): WhySentence {
  const { tasks, instances, submittedAtMs, startedAtMs } = job;
  const ready = cluster?.instances.filter(({ state }) => state === 'ready').length ?? 0;
  const registered = fact('instances registered', ready);
  if (job.status === 'pending') {
    const gang = rules?.gang === true ? ' Its tasks start when all instances are ready.' : '';
    const text = `No task has started since the job was submitted at ${timeText(submittedAtMs)}: ${registeredText(ready, instances)}.${gang}`;
    return { about: 'state', text, facts: [fact('submitted', timeText(submittedAtMs), submittedAtMs), registered] };
  }
  const { total, running, assigned, pending, done } = tasks;
  const waiting =
    pending === 0 ? '' : `; ${pending} wait, because an instance runs one task at a time and ${ready} are ready`;
  const since = startedAtMs === null ? '' : ` since ${timeText(startedAtMs)}`;
  const text = `The job runs${since}: of ${plural(total, 'task')} ${done} are done and ${running + assigned} run${waiting}.`;
  const counts = Object.entries({ total, running, assigned, pending, done });
  return { about: 'state', text, facts: [...counts.map(([name, count]) => fact(`tasks ${name}`, count)), registered] };
}

/** An instance runs one task at a time, so the number of tasks and the user's maximum limit the number of instances. */
function explainSize({ instances, tasks }: JobFacts, rules: JobRules | null, events: Events): WhySentence {
  const { total } = tasks;
  const useful = instancesFor(total, rules?.headTasks, Number.POSITIVE_INFINITY);
  const facts = [fact('instances', instances, null, newestEvent(events, 'CREATED')), fact('tasks', total)];
  const why =
    instances >= useful
      ? 'one for each task that may run at a time, so that more would have nothing to run'
      : `fewer than its ${total} tasks: its --max-workers, the %N of its array, or the provider's default allows no more`;
  return { about: 'size', text: `The job has ${plural(instances, 'instance')}, ${why}.`, facts };
}

function explainReleased({ target }: JobCluster, events: Events): WhySentence[] {
  return newestEvent(events, 'RELEASED').map((released) => ({
    about: 'size',
    text: `It keeps ${plural(target, 'instance')}: at ${timeText(released.atMs)} ${clause(released.text)}.`,
    facts: [eventFact(released, [released])],
  }));
}

const maxCausesNamed = 5;

function explainErrors({ status, tasks, counters, recentErrors, failures = [] }: JobFacts): WhySentence[] {
  const newest = recentErrors.at(-1);
  const { lost, retried } = counters;
  if (tasks.error + lost + retried === 0) return [];
  const causes = failures
    .slice(0, maxCausesNamed)
    .map(({ code, count, lastAtMs }) => fact(`failure ${code}`, count, lastAtMs));
  const totals = [fact('tasks failed', tasks.error), fact('attempts retried', retried), fact('attempts lost', lost)];
  const counts = [...totals, ...causes];
  const [worst] = failures;
  const most =
    worst === undefined || failures.length < 2
      ? ''
      : ` The most frequent cause, ${worst.count} times, is ${worst.code}: ${clause(worst.text)}.`;
  const error = newest === undefined ? '' : `; the newest error is: ${clause(newest.text)}`;
  const text = `${plural(tasks.error, 'task')} failed, ${plural(retried, 'attempt')} failed and ran again, ${plural(lost, 'attempt')} ended with an instance${error}.${most}`;
  const about = status === 'running' || status === 'pending' ? 'state' : 'end';
  const facts = newest === undefined ? counts : [...counts, fact('newest error', newest.text, newest.atMs)];
  return [{ about, text, facts }];
}
