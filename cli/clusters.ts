// Clusters on a terminal: a table row, one line of progress, and all details.
import type { Cluster, ClusterEvent, JobEvent } from '../sdk/client.ts';
import { formatFailure, groupFailures } from '../sdk/client.ts';
import { formatStages } from './boot-stages.ts';
import { formatCost, formatDollars } from './dollars.ts';
import { formatTable } from './table.ts';
import type { Column } from './table.ts';
import { formatSpan, formatTime } from './times.ts';

type Instance = Cluster['instances'][number];

const columns: Column[] = [
  { title: 'ID', align: 'left' },
  { title: 'Name', align: 'left' },
  { title: 'State', align: 'center' },
  { title: 'Workers', align: 'right' },
  { title: 'Created', align: 'right' },
  { title: 'Ended', align: 'right' },
  { title: 'Approx Cloud Cost', align: 'right' },
  { title: 'User', align: 'left' },
];

export function formatClusters(clusters: readonly Cluster[]): string {
  return formatTable(
    columns,
    clusters.map((cluster) => {
      const { number, name, status, createdAt, endedAt, user } = cluster;
      const times = [createdAt, endedAt].map(formatTime);
      return [String(number), name, status, workersOf(cluster), ...times, formatCost(cluster.cost), user];
    }),
  );
}

/** One line: `Cluster 12 (blue) starting: 1 / 4 workers, 1 failed`. */
export function formatCluster(cluster: Cluster): string {
  const { number, name, status, reason, staleSince, dask, job, waitingForCapacity: waiting = null } = cluster;
  const parts = [job === null ? `${workersOf(cluster)} workers` : `for job ${job}`];
  if (dask !== null && dask.workersErrored > 0) parts.push(`${dask.workersErrored} failed`);
  const head = cluster.instances.find(({ role }) => role === 'head');
  if (status === 'starting' && head !== undefined && dask?.schedulerAddress === null) {
    parts.push(`scheduler ${stateOf(head)}`);
  }
  if (waiting !== null) parts.push(`waiting for capacity since ${formatTime(waiting.since)}`);
  if (staleSince !== null) parts.push(`as of ${formatTime(staleSince)}`);
  const why = reason === null ? '' : ` (${reason.text})`;
  return `Cluster ${number} (${name}) ${status}: ${parts.join(', ')}${why}`;
}

/** The line above, the scheduler, the workers by state, failures with their reasons, and events. */
export function formatDetails(cluster: Cluster): string {
  const { createdAt, readyAt, endedAt, user, events } = cluster;
  const ready = formatSpan(createdAt, readyAt);
  const lines = [
    formatCluster(cluster),
    fact('Created', `${formatTime(createdAt)} by ${user}${ready === '' ? '' : `, ready after ${ready}`}`),
    ...(endedAt === null ? [] : [fact('Ended', formatTime(endedAt))]),
    ...(cluster.job === null ? daskFacts(cluster) : [fact('Instances', countStates(cluster.instances))]),
  ];
  if (cluster.cost) lines.push(fact('Cost', costText(cluster.cost)));
  if (cluster.gpus) lines.push(fact('GPUs', gpusText(cluster.gpus)));
  if (cluster.waitingForCapacity) lines.push(fact('Waiting', waitText(cluster.waitingForCapacity)));
  const stages = formatStages(cluster.instances);
  if (stages.length > 0) lines.push('', 'Start', ...stages);
  const failures = groupFailures(cluster);
  if (failures.length > 0) lines.push('', 'Failures', ...failures.map((each) => oneLine(formatFailure(each), 2)));
  if (events.length > 0) lines.push('', 'Events', ...events.map((event) => `  ${formatEvent(event)}`));
  return lines.join('\n');
}

/** `2024-11-18 17:25:10 #9 READY: 3 of 3 instances are ready`; events of jobs have no numbers. */
export function formatEvent(event: ClusterEvent | JobEvent): string {
  const number = 'seq' in event ? `#${event.seq} ` : '';
  return `${formatTime(event.at)} ${number}${event.code}: ${oneLine(event.text)}`;
}

const costText = ({ dollars, dollarsPerHour }: NonNullable<Cluster['cost']>): string =>
  `about ${formatDollars(dollars)}${dollarsPerHour === 0 ? '' : `, ${formatDollars(dollarsPerHour)} an hour now`}`;

const gpusText = ({ total, idle, idleSince }: NonNullable<Cluster['gpus']>): string =>
  idle === 0 ? `${total}, none idle` : `${idle} of ${total} idle since ${formatTime(idleSince)}`;

function waitText({ since, nextTry, until, text }: NonNullable<Cluster['waitingForCapacity']>): string {
  const end = until === null ? '' : `, until ${formatTime(until)} at the latest`;
  return `since ${formatTime(since)}, next attempt at ${formatTime(nextTry)}${end}: ${text}`;
}

function daskFacts({ instances, dask }: Cluster): string[] {
  const head = instances.find(({ role }) => role === 'head');
  const address = dask?.schedulerAddress ?? null;
  const scheduler = head === undefined ? 'no instance' : stateOf(head);
  const facts = [fact('Scheduler', address === null ? scheduler : `${scheduler} at ${address}`)];
  if (dask === null) return facts;
  const workers = countStates(instances.filter(({ role }) => role === 'worker'));
  facts.push(fact('Workers', `${dask.workersWanted} wanted${workers === '' ? '' : `: ${workers}`}`));
  if (dask.adaptive !== null) {
    facts.push(fact('Adaptive', `between ${dask.adaptive.minimum} and ${dask.adaptive.maximum} workers`));
  }
  if (dask.tasks !== null) {
    const { processing, waiting, memory, erred, noWorker } = dask.tasks;
    const counts = { processing, waiting, 'without a worker': noWorker, 'in memory': memory, erred };
    const some = Object.entries(counts).filter(([, count]) => count > 0);
    facts.push(fact('Tasks', some.length === 0 ? 'none' : some.map(([name, count]) => `${count} ${name}`).join(', ')));
  }
  facts.push(...usageFacts(dask));
  if (dask.clients !== null) {
    const idle = dask.idleSince === null ? '' : `, idle since ${formatTime(dask.idleSince)}`;
    facts.push(fact('Clients', `${dask.clients}${idle}`));
  }
  return facts;
}

function usageFacts({ usage }: NonNullable<Cluster['dask']>): string[] {
  const { groups = [], exceptions = [], memory } = usage ?? {};
  const gib = (bytes: number): string => (bytes / 2 ** 30).toFixed(1);
  const facts =
    memory === undefined ? [] : [fact('Memory', `${gib(memory.usedBytes)} of ${gib(memory.limitBytes)} GiB`)];
  const computed = groups.map(({ name, tasks, erred, computeSeconds }) =>
    [`${tasks} x ${name} ${computeSeconds.toFixed(1)} s`, ...(erred === 0 ? [] : [`${erred} erred`])].join(', '),
  );
  if (computed.length > 0) facts.push(fact('Computed', computed.join('; ')));
  const raised = exceptions.map(({ type, count }) => `${count} x ${type}`).join(', ');
  return raised === '' ? facts : [...facts, fact('Exceptions', raised)];
}

/** `2 started, 1 starting (environment)`: one group for each state. */
function countStates(instances: readonly Instance[]): string {
  const counts = new Map<string, number>();
  for (const instance of instances) counts.set(stateOf(instance), (counts.get(stateOf(instance)) ?? 0) + 1);
  return [...counts].map(([state, count]) => `${count} ${state}`).join(', ');
}

/** The state of an instance and its process; a failure's code follows in brackets. */
function stateOf({ state, process, reason }: Instance): string {
  const why = process?.reason ?? reason;
  const because = why === null ? '' : ` (${why.code})`;
  if (state !== 'ready') return `${state}${because}`;
  if (process === null) return 'booted';
  if (process.state === 'pending' || process.state === 'starting') return `starting (${process.stage})`;
  return `${process.state}${because}`;
}

function workersOf({ dask, target, job }: Cluster): string {
  if (dask !== null) return `${dask.workersStarted} / ${dask.workersWanted}`;
  // No worker has started before the scheduler reports; instances of a job are not Dask workers.
  return job === null ? `0 / ${Math.max(0, target - 1)}` : '-';
}

function fact(name: string, value: string): string {
  return `${name.padEnd(10)} ${oneLine(value)}`;
}

/** Joins lines, because error messages of an installer have many. */
export function oneLine(text: string, indent = 0): string {
  return ' '.repeat(indent) + text.trim().replace(/\s*\n\s*/g, ' | ');
}
