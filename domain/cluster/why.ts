// Explains why a cluster runs or waits, is not bigger, or has stopped. Pure, from its view.
import { idleGpusText, type IdleGpus } from '../gpu-use.ts';
import type { Reason } from '../reason.ts';
import { plural, registeredText, spellDuration } from '../units.ts';
import { clause, eventFact, eventsOfReason, fact, newestEvent, timeText, type WhySentence } from '../why.ts';
import { scaleInAfterMs, type Adaptive } from './dask/adaptive-settings.ts';
import { jobOver } from './plan.ts';
import type { SchedulerReport } from './dask/scheduler-report.ts';
import type { NumberedEvent } from './history.ts';
import type { InstanceRole } from './state.ts';
import type { ClusterStatus, InstanceState } from './statuses.ts';

/** The fields of a cluster's view that this file uses, by structure. */
export interface ClusterFacts {
  status: ClusterStatus;
  reason: Reason | null;
  job: number | null;
  target: number;
  instances: readonly { role: InstanceRole; state: InstanceState }[];
  failures: readonly { code: string; text: string; count: number; lastAtMs: number }[];
  /** All of them, oldest first. */
  events: readonly NumberedEvent[];
  createdAtMs: number;
  readyAtMs: number | null;
  endedAtMs: number | null;
  waiting: { sinceMs: number; nextTryMs: number; untilMs: number | null; missing: number; text: string } | null;
  dask: DaskFacts | null;
  gpus?: IdleGpus | null;
}

export interface DaskFacts {
  report: Pick<SchedulerReport, 'tasks' | 'clients' | 'adaptiveTarget'> | null;
  reportedAtMs: number | null;
  idleSinceMs: number | null;
  unresponsiveSinceMs: number | null;
  adaptive: Adaptive | null;
  workersWanted: number;
  workersStarted: number;
  workersErrored: number;
}

/** `idleTimeoutMs`: null when unknown. */
export function explainCluster(cluster: ClusterFacts, idleTimeoutMs: number | null): WhySentence[] {
  if (ends.has(cluster.status)) return [explainEnd('cluster', cluster), ...explainFailuresBeforeEnd(cluster)];
  return [
    ...explainState(cluster, idleTimeoutMs),
    ...explainReason(cluster.reason, cluster.events),
    ...explainCapacity(cluster),
    ...explainSize(cluster),
    ...explainGpus(cluster),
    ...explainFailures(cluster),
  ];
}

const ends: ReadonlySet<ClusterStatus> = new Set(['stopping', 'stopped', 'error']);

/** Explains why a cluster or job stops or has stopped, and who requested it. */
export function explainEnd(
  noun: 'cluster' | 'job',
  { status, reason, endedAtMs, events }: Pick<ClusterFacts, 'reason' | 'endedAtMs' | 'events'> & { status: string },
): WhySentence {
  const how =
    endedAtMs === null ? (status === 'stopping' ? 'is stopping' : 'has ended') : `ended at ${timeText(endedAtMs)}`;
  if (reason === null) return { about: 'end', text: `The ${noun} ${how}.`, facts: [] };
  const { text, by } = reason;
  const who = by === undefined || text.includes(by) ? '' : ` ${by} asked for it.`;
  // The end of a job ends its cluster.
  const noted = noun === 'job' ? newestEvent(events, jobOver) : eventsOfReason(reason, events);
  const facts = [eventFact(reason, noted), ...(by === undefined ? [] : [fact('by', by, reason.atMs, noted)])];
  return { about: 'end', text: `The ${noun} ${how}: ${clause(text)}.${who}`, facts };
}

/** For an open cluster or job: what its start waits for, or an alarm. */
export const explainReason = (reason: Reason | null, events: ClusterFacts['events']): WhySentence[] => {
  if (reason === null) return [];
  return [
    { about: 'state', text: `${clause(reason.text)}.`, facts: [eventFact(reason, eventsOfReason(reason, events))] },
  ];
};

/** The newest of them set the number of instances. */
const sizeEvents = ['CREATED', 'SCALE', 'RELEASED'];

function explainState(cluster: ClusterFacts, idleTimeoutMs: number | null): WhySentence[] {
  const { status, job, target, createdAtMs, readyAtMs, instances, dask, events } = cluster;
  const created = newestEvent(events, 'CREATED');
  const about = 'state';
  if (status === 'waiting') {
    return [{ about, text: 'The cluster has not started: no instance has been launched yet.', facts: [] }];
  }
  if (status === 'pending') {
    const text = `The cluster was created at ${timeText(createdAtMs)}; no instance has been launched yet.`;
    return [{ about, text, facts: [fact('created', timeText(createdAtMs), createdAtMs, created)] }];
  }
  const ready = instances.filter(({ state }) => state === 'ready').length;
  const wanted = fact('instances wanted', target, null, newestEvent(events, ...sizeEvents));
  const counts = [fact('instances registered', ready), wanted];
  if (status === 'starting' || status === 'scaling') {
    const text = `The cluster is ${status}: ${registeredText(ready, target)}${startedText(dask)}.`;
    return [{ about, text, facts: counts }];
  }
  const since = fact('ready', timeText(readyAtMs ?? createdAtMs), readyAtMs, newestEvent(events, 'READY'));
  if (job !== null) {
    const text = `The cluster runs the tasks of job ${job}, and ends with it.`;
    return [{ about, text, facts: [fact('job', job, null, created), since] }];
  }
  if (dask === null) return [];
  return [{ about, text: explainDask(dask, idleTimeoutMs), facts: [since, ...daskFacts(dask, events)] }];
}

const startedText = (dask: DaskFacts | null): string =>
  dask === null ? '' : `, ${dask.workersStarted} of ${plural(dask.workersWanted, 'worker')} have started`;

function explainDask(dask: DaskFacts, idleTimeoutMs: number | null): string {
  const { idleSinceMs, unresponsiveSinceMs, report } = dask;
  if (unresponsiveSinceMs !== null) {
    return `The cluster is ready, but its scheduler has not answered since ${timeText(unresponsiveSinceMs)}.`;
  }
  if (idleSinceMs !== null) {
    const end = idleTimeoutMs === null ? '' : `; without work it stops at ${timeText(idleSinceMs + idleTimeoutMs)}`;
    return `The cluster is ready and idle: nothing has been computed since ${timeText(idleSinceMs)}${end}.`;
  }
  if (report === null) return 'The cluster is ready; its scheduler has not reported its load yet.';
  const { processing, waiting, noWorker } = report.tasks;
  const clients = plural(report.clients, 'client');
  const running = `The cluster is ready: ${plural(processing, 'task')} ${processing === 1 ? 'is' : 'are'} processing, ${waiting} wait, ${clients} connected.`;
  return noWorker === 0 ? running : `${running} ${explainNoWorker(noWorker, dask.workersStarted)}`;
}

function explainNoWorker(noWorker: number, workersStarted: number): string {
  const tasks = `${plural(noWorker, 'task')} ${noWorker === 1 ? 'has' : 'have'} no worker`;
  if (workersStarted === 0) return `${tasks}: none has started.`;
  return `${tasks} that may run ${noWorker === 1 ? 'it' : 'them'}: none of ${workersStarted} has the resources that were asked for (worker_options), or is one of the workers that were named.`;
}

function daskFacts(
  { report, reportedAtMs, idleSinceMs, unresponsiveSinceMs }: DaskFacts,
  events: ClusterFacts['events'],
) {
  const since = (name: string, sinceMs: number | null, code: string) => {
    if (sinceMs === null) return [];
    const noted = newestEvent(events, code).filter(({ atMs }) => atMs >= sinceMs);
    return [fact(name, timeText(sinceMs), sinceMs, noted)];
  };
  return [
    ...since('unresponsive since', unresponsiveSinceMs, 'SCHEDULER_UNRESPONSIVE'),
    ...since('idle since', idleSinceMs, 'IDLE_WARNING'),
    ...(report === null
      ? []
      : [
          fact('tasks processing', report.tasks.processing, reportedAtMs),
          fact('tasks waiting', report.tasks.waiting, reportedAtMs),
          ...(report.tasks.noWorker === 0 ? [] : [fact('tasks without a worker', report.tasks.noWorker, reportedAtMs)]),
          fact('clients', report.clients, reportedAtMs),
        ]),
  ];
}

/** Explains unavailable capacity. */
export function explainCapacity({ waiting, events }: Pick<ClusterFacts, 'waiting' | 'events'>): WhySentence[] {
  if (waiting === null) return [];
  const { sinceMs, nextTryMs, untilMs, missing } = waiting;
  const missingFact = fact('instances missing', missing, sinceMs, newestEvent(events, 'WAITING_FOR_CAPACITY'));
  const until = untilMs === null ? '' : `, until ${timeText(untilMs)} at the latest`;
  const text = `Since ${timeText(sinceMs)} it waits for capacity: ${clause(waiting.text)}. The next attempt is at ${timeText(nextTryMs)}${until}.`;
  return [{ about: 'size', text, facts: [missingFact] }];
}

function explainSize({ dask, job, target, events }: ClusterFacts): WhySentence[] {
  const about = 'size';
  const [asked] = newestEvent(events, 'SCALE', 'RELEASED');
  const last = asked === undefined ? [] : [eventFact(asked, [asked])];
  const setBy = newestEvent(events, ...sizeEvents);
  if (dask === null) {
    if (job === null) return [];
    const text = `Job ${job} needs ${plural(target, 'instance')} now${asked === undefined ? '' : `: ${clause(asked.text)}`}.`;
    return [{ about, text, facts: [fact('instances wanted', target, null, setBy), ...last] }];
  }
  if (dask.adaptive !== null) return [explainAdaptive(dask, dask.adaptive, events)];
  const workers = plural(dask.workersWanted, 'worker');
  const by = asked?.by === undefined ? '' : ` by ${asked.by}`;
  const when = asked === undefined ? 'when it was created' : `at ${timeText(asked.atMs)}${by}`;
  const text = `The cluster was asked for ${workers} ${when}, and adaptive scaling is off: only a request changes their number.`;
  return [{ about, text, facts: [fact('workers wanted', dask.workersWanted, null, setBy), ...last] }];
}

function explainAdaptive(
  { report, reportedAtMs, workersWanted }: DaskFacts,
  adaptive: Adaptive,
  events: ClusterFacts['events'],
): WhySentence {
  const { minimum, maximum, targetDurationMs } = adaptive;
  const about = 'size';
  const needed = report?.adaptiveTarget ?? null;
  const rangeSetBy = newestEvent(events, 'CREATED', 'ADAPT');
  const facts = [
    fact('minimum', minimum, null, rangeSetBy),
    fact('maximum', maximum, null, rangeSetBy),
    fact('workers wanted', workersWanted, null, newestEvent(events, ...sizeEvents)),
  ];
  const range = `Adaptive scaling keeps between ${minimum} and ${maximum} workers`;
  if (needed === null) return { about, text: `${range}; the scheduler has not said yet how many it needs.`, facts };
  const load = `the scheduler needs ${needed} to finish its known work in ${spellDuration(targetDurationMs)}`;
  const all = [...facts, fact('workers needed', needed, reportedAtMs)];
  if (needed > maximum) return { about, text: `${range}: ${load}, and the maximum allows no more.`, facts: all };
  const kept = Math.max(needed, minimum);
  if (kept >= workersWanted) return { about, text: `${range}: ${load}, so ${workersWanted} are wanted.`, facts: all };
  const after = spellDuration(scaleInAfterMs(adaptive));
  const text = `${range}: ${load}. ${workersWanted} are kept until fewer have been enough for ${after}.`;
  return { about, text, facts: all };
}

/** Explains GPUs that cost money and are idle. */
export function explainGpus({ gpus, events }: Pick<ClusterFacts, 'gpus' | 'events'>): WhySentence[] {
  if (gpus === null || gpus === undefined || gpus.idle === 0) return [];
  const { total, idle, sinceMs } = gpus;
  const since = sinceMs === null ? 'for long' : `since ${timeText(sinceMs)}`;
  const text = `${idleGpusText(gpus)} ${since}: does the code use CUDA? Instances without GPUs cost less.`;
  return [
    {
      about: 'instanceType',
      text,
      facts: [fact('GPUs', total), fact('idle GPUs', idle, sinceMs, newestEvent(events, 'IDLE_GPU'))],
    },
  ];
}

/** When a user stopped a cluster whose instances failed, the failures are usually part of the reason. */
function explainFailuresBeforeEnd(cluster: ClusterFacts): WhySentence[] {
  const isNamed = cluster.failures.some(({ text }) => cluster.reason?.text.includes(text));
  return isNamed ? [] : explainFailedInstances(cluster);
}

/** Explains workers that were given up and the failures of their instances. */
function explainFailures(cluster: ClusterFacts): WhySentence[] {
  const errored = cluster.dask?.workersErrored ?? 0;
  const workers = errored === 0 ? '' : `${plural(errored, 'worker')} failed. `;
  return explainFailedInstances(cluster).map((sentence) => ({ ...sentence, text: `${workers}${sentence.text}` }));
}

/** The most frequent failure of a cluster's instances; empty without one. */
export function explainFailedInstances({ failures, events }: Pick<ClusterFacts, 'failures' | 'events'>): WhySentence[] {
  const [worst] = failures.toSorted((a, b) => b.count - a.count);
  if (worst === undefined) return [];
  const { code, count, lastAtMs } = worst;
  const noted = events.filter((event) => event.code === code);
  const times = count === 1 ? 'once' : `${count} times`;
  const text = `The most frequent failure of its instances, ${times}, is ${code}: ${clause(worst.text)}.`;
  return [{ about: 'size', text, facts: [fact(`failure ${code}`, count, lastAtMs, noted)] }];
}
