// Explains why a cluster runs or waits, is not bigger, or has stopped. Pure, from its view.
import { idleGpusText, type IdleGpus } from '../gpu-use.ts';
import type { Reason } from '../reason.ts';
import { plural, spellDuration } from '../units.ts';
import { clause, eventFact, fact, timeText, type WhySentence } from '../why.ts';
import { scaleInAfterMs, type Adaptive } from './dask/adaptive-settings.ts';
import type { SchedulerReport } from './dask/scheduler-report.ts';
import type { InstanceRole } from './state.ts';
import type { ClusterStatus, InstanceState } from './statuses.ts';

interface Event {
  atMs: number;
  code: string;
  text: string;
  by?: string | undefined;
}

/** The fields of a cluster's view that this file uses, by structure. */
export interface ClusterFacts {
  status: ClusterStatus;
  reason: Reason | null;
  job: number | null;
  target: number;
  instances: readonly { role: InstanceRole; state: InstanceState }[];
  failures: readonly { code: string; text: string; count: number; lastAtMs: number }[];
  events: readonly Event[];
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
    ...explainReason(cluster.reason),
    ...explainCapacity(cluster.waiting),
    ...explainSize(cluster),
    ...explainGpus(cluster.gpus),
    ...explainFailures(cluster),
  ];
}

const ends: ReadonlySet<ClusterStatus> = new Set(['stopping', 'stopped', 'error']);

/** Explains why a cluster or job stops or has stopped, and who requested it. */
export function explainEnd(
  noun: 'cluster' | 'job',
  { status, reason, endedAtMs }: { status: string; reason: Reason | null; endedAtMs: number | null },
): WhySentence {
  const how =
    endedAtMs === null ? (status === 'stopping' ? 'is stopping' : 'has ended') : `ended at ${timeText(endedAtMs)}`;
  if (reason === null) return { about: 'end', text: `The ${noun} ${how}.`, facts: [] };
  const { text, by } = reason;
  const who = by === undefined || text.includes(by) ? '' : ` ${by} asked for it.`;
  const facts = [eventFact(reason), ...(by === undefined ? [] : [fact('by', by, reason.atMs)])];
  return { about: 'end', text: `The ${noun} ${how}: ${clause(text)}.${who}`, facts };
}

/** For an open cluster or job: what its start waits for, or an alarm. */
export const explainReason = (reason: Reason | null): WhySentence[] =>
  reason === null ? [] : [{ about: 'state', text: `${clause(reason.text)}.`, facts: [eventFact(reason)] }];

function explainState(cluster: ClusterFacts, idleTimeoutMs: number | null): WhySentence[] {
  const { status, job, target, createdAtMs, readyAtMs, instances, dask } = cluster;
  const about = 'state';
  if (status === 'waiting') {
    return [{ about, text: 'The cluster has not started: no instance has been launched yet.', facts: [] }];
  }
  if (status === 'pending') {
    const text = `The cluster was created at ${timeText(createdAtMs)}; no instance has been launched yet.`;
    return [{ about, text, facts: [fact('created', timeText(createdAtMs), createdAtMs)] }];
  }
  const ready = instances.filter(({ state }) => state === 'ready').length;
  const counts = [fact('instances registered', ready), fact('instances wanted', target)];
  if (status === 'starting' || status === 'scaling') {
    const text = `The cluster is ${status}: ${ready} of ${plural(target, 'instance')} have registered${startedText(dask)}.`;
    return [{ about, text, facts: counts }];
  }
  const since = fact('ready', timeText(readyAtMs ?? createdAtMs), readyAtMs);
  if (job !== null) {
    const text = `The cluster runs the tasks of job ${job}, and ends with it.`;
    return [{ about, text, facts: [fact('job', job), since] }];
  }
  return dask === null ? [] : [{ about, text: explainDask(dask, idleTimeoutMs), facts: [since, ...daskFacts(dask)] }];
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

function daskFacts({ report, reportedAtMs, idleSinceMs }: DaskFacts) {
  return [
    ...(idleSinceMs === null ? [] : [fact('idle since', timeText(idleSinceMs), idleSinceMs)]),
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
export function explainCapacity(waiting: ClusterFacts['waiting']): WhySentence[] {
  if (waiting === null) return [];
  const { sinceMs, nextTryMs, untilMs, missing } = waiting;
  const until = untilMs === null ? '' : `, until ${timeText(untilMs)} at the latest`;
  const text = `Since ${timeText(sinceMs)} it waits for capacity: ${clause(waiting.text)}. The next attempt is at ${timeText(nextTryMs)}${until}.`;
  return [{ about: 'size', text, facts: [fact('instances missing', missing, sinceMs)] }];
}

function explainSize({ dask, job, target, events }: ClusterFacts): WhySentence[] {
  const about = 'size';
  const asked = events.findLast(({ code }) => code === 'SCALE' || code === 'RELEASED');
  const last = asked === undefined ? [] : [eventFact(asked)];
  if (dask === null) {
    if (job === null) return [];
    const text = `Job ${job} needs ${plural(target, 'instance')} now${asked === undefined ? '' : `: ${clause(asked.text)}`}.`;
    return [{ about, text, facts: [fact('instances wanted', target), ...last] }];
  }
  if (dask.adaptive !== null) return [explainAdaptive(dask, dask.adaptive)];
  const workers = plural(dask.workersWanted, 'worker');
  const by = asked?.by === undefined ? '' : ` by ${asked.by}`;
  const when = asked === undefined ? 'when it was created' : `at ${timeText(asked.atMs)}${by}`;
  const text = `The cluster was asked for ${workers} ${when}, and adaptive scaling is off: only a request changes their number.`;
  return [{ about, text, facts: [fact('workers wanted', dask.workersWanted), ...last] }];
}

function explainAdaptive({ report, reportedAtMs, workersWanted }: DaskFacts, adaptive: Adaptive): WhySentence {
  const { minimum, maximum, targetDurationMs } = adaptive;
  const about = 'size';
  const needed = report?.adaptiveTarget ?? null;
  const facts = [fact('minimum', minimum), fact('maximum', maximum), fact('workers wanted', workersWanted)];
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
export function explainGpus(gpus: ClusterFacts['gpus']): WhySentence[] {
  if (gpus === null || gpus === undefined || gpus.idle === 0) return [];
  const { total, idle, sinceMs } = gpus;
  const since = sinceMs === null ? 'for long' : `since ${timeText(sinceMs)}`;
  const text = `${idleGpusText(gpus)} ${since}: does the code use CUDA? Instances without GPUs cost less.`;
  return [{ about: 'instanceType', text, facts: [fact('GPUs', total), fact('idle GPUs', idle, sinceMs)] }];
}

/** When a user stopped a cluster whose instances failed, the failures are usually part of the reason. */
function explainFailuresBeforeEnd({ reason, failures }: ClusterFacts): WhySentence[] {
  const isNamed = failures.some(({ text }) => reason?.text.includes(text));
  return isNamed ? [] : explainFailedInstances(failures);
}

/** Explains workers that were given up and the failures of their instances. */
function explainFailures({ failures, dask }: ClusterFacts): WhySentence[] {
  const workers = dask === null || dask.workersErrored === 0 ? '' : `${plural(dask.workersErrored, 'worker')} failed. `;
  return explainFailedInstances(failures).map((sentence) => ({ ...sentence, text: `${workers}${sentence.text}` }));
}

/** The most frequent failure of a cluster's instances; empty without one. */
export function explainFailedInstances(failures: ClusterFacts['failures']): WhySentence[] {
  const [worst] = failures.toSorted((a, b) => b.count - a.count);
  if (worst === undefined) return [];
  const { code, count, lastAtMs } = worst;
  const times = count === 1 ? 'once' : `${count} times`;
  const text = `The most frequent failure of its instances, ${times}, is ${code}: ${clause(worst.text)}.`;
  return [{ about: 'size', text, facts: [fact(`failure ${code}`, count, lastAtMs)] }];
}
