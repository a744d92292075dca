// The live panel of a Dask cluster: overview, configuration, workers by state as bars, and its newest events. Pure.
import { styleText } from 'node:util';

import type { Cluster } from '../sdk/client.ts';
import { formatDollars } from './dollars.ts';
import { clean } from './output.ts';
import type { Screen } from './output.ts';
import { formatSpan, formatTime } from './times.ts';

type Instance = Cluster['instances'][number];
type Style = Parameters<typeof styleText>[0];
type Fact = readonly [name: string, value: string];

/** States of a worker in the order of its life cycle. */
const states = ['Provisioning', 'Booting', 'Environment', 'Starting', 'Ready', 'Stopping', 'Error'] as const;
export type WorkerState = (typeof states)[number];

const styles: Record<WorkerState, Style> = {
  Provisioning: 'gray',
  Booting: 'yellow',
  Environment: 'yellow',
  Starting: 'yellow',
  Ready: 'green',
  Stopping: 'cyan',
  Error: 'red',
};
const maxEvents = 4;
/** From this width on, overview and configuration are side by side. */
const twoColumns = 76;
const labelWidth = 13;

/** At most as many lines as `screen` has rows, each at most as wide: the events are omitted first. */
export function formatPanel(cluster: Cluster, screen: Screen, nowMs = Date.now()): string[] {
  const width = screen.columns - 1;
  const paint = (style: Style, text: string): string =>
    screen.colors ? styleText(style, text, { validateStream: false }) : text;
  const clip = (text: string): string => shorten(clean(text), width);
  const title = (text: string): string => paint('bold', clip(text));
  const { number, name, status, reason, staleSince, waitingForCapacity: waiting } = cluster;
  const age = formatSpan(cluster.createdAt, cluster.endedAt ?? new Date(nowMs).toISOString());
  const lines = [
    title(`Cluster ${number} (${name}): ${status}, ${age}`),
    '',
    ...sections(['Overview', overview(cluster)], ['Configuration', configuration(cluster)], width).map((line) =>
      line.isTitle ? title(line.text) : clip(line.text),
    ),
    '',
    title('Workers'),
    ...bars(countWorkers(cluster), width, paint),
  ];
  const notes = [
    ...(waiting ? [`Waiting for capacity since ${formatTime(waiting.since)}: ${waiting.text}`] : []),
    ...(staleSince === null ? [] : [`The workflow does not answer: state of ${formatTime(staleSince)}`]),
    ...(reason === null ? [] : [reason.text]),
  ];
  const events = cluster.events
    .slice(-maxEvents)
    .map(({ at, code, text }) => `  ${formatTime(at).slice(11)} ${code}: ${text}`);
  const room = screen.rows - 1 - lines.length - notes.length - 2;
  const shown = events.slice(Math.max(0, events.length - Math.max(0, room)));
  if (shown.length > 0) lines.push('', title('Newest events'), ...shown.map(clip));
  lines.push(...notes.map((note) => paint('yellow', clip(note))));
  return lines.slice(0, Math.max(1, screen.rows - 1));
}

/** Wanted workers without an instance count as provisioning; those that were given up as errors. */
export function countWorkers({ instances, dask, target, job }: Cluster): Record<WorkerState, number> {
  const counts: Record<WorkerState, number> = {
    ...{ Provisioning: 0, Booting: 0, Environment: 0, Starting: 0, Ready: 0, Stopping: 0, Error: 0 },
  };
  for (const instance of instances) if (instance.role === 'worker') counts[stateOf(instance)] += 1;
  const wanted = dask?.workersWanted ?? (job === null ? Math.max(0, target - 1) : 0);
  const errored = dask?.workersErrored ?? 0;
  counts.Error = Math.max(counts.Error, errored);
  const coming = counts.Provisioning + counts.Booting + counts.Environment + counts.Starting + counts.Ready;
  counts.Provisioning += Math.max(0, wanted - coming - errored);
  return counts;
}

function stateOf({ state, process, stages = [] }: Instance): WorkerState {
  if (state === 'stopping') return 'Stopping';
  if (state === 'error' || process?.state === 'error') return 'Error';
  if (state === 'starting') return stages.some(({ name }) => name === 'launched') ? 'Booting' : 'Provisioning';
  if (process === null || process.state === 'pending') return 'Environment';
  if (process.state === 'starting') return 'Starting';
  return process.state === 'started' ? 'Ready' : 'Stopping';
}

function overview({ user, dask, instances, cost, createdAt, readyAt }: Cluster): Fact[] {
  const head = instances.find(({ role }) => role === 'head');
  const ready = formatSpan(createdAt, readyAt);
  return [
    ['User', user],
    ['Scheduler', head === undefined ? 'no instance' : (schedulerText[stateOf(head)] ?? stateOf(head).toLowerCase())],
    ['Address', dask?.schedulerAddress ?? '-'],
    ['Ready after', ready === '' ? '-' : ready],
    ['Cost', cost ? `about ${formatDollars(cost.dollars)}, ${formatDollars(cost.dollarsPerHour)} an hour` : '-'],
  ];
}

const schedulerText: Partial<Record<WorkerState, string>> = { Ready: 'running', Environment: 'builds its environment' };

function configuration({ provider, region = null, instances, dask, target }: Cluster): Fact[] {
  const workers = instances.filter(({ role }) => role === 'worker');
  const adaptive = dask?.adaptive ?? null;
  const wanted = dask?.workersWanted ?? Math.max(0, target - 1);
  return [
    ['Provider', region === null ? provider : `${provider}, ${region}`],
    ['Scheduler', typesOf(instances.filter(({ role }) => role === 'head'))],
    ['Workers', typesOf(workers)],
    [
      'Requested',
      adaptive === null ? String(wanted) : `${wanted}, adaptive ${adaptive.minimum} to ${adaptive.maximum}`,
    ],
    ['Clients', dask?.clients === null || dask === null ? '-' : String(dask.clients)],
  ];
}

/** `2 x m6i.xlarge spot, 1 x m5.xlarge` */
function typesOf(instances: readonly Instance[]): string {
  const counts = new Map<string, number>();
  for (const { type, market } of instances) {
    const what = market === 'spot' ? `${type} spot` : type;
    counts.set(what, (counts.get(what) ?? 0) + 1);
  }
  return counts.size === 0 ? '-' : [...counts].map(([what, count]) => `${count} x ${what}`).join(', ');
}

type Section = readonly [title: string, facts: readonly Fact[]];
interface SectionLine {
  text: string;
  isTitle: boolean;
}

function sections(left: Section, right: Section, width: number): SectionLine[] {
  const [one, two] = [linesOf(left), linesOf(right)];
  if (width < twoColumns) return [...one, { text: '', isTitle: false }, ...two];
  const half = Math.floor(width / 2);
  return one.map(({ text, isTitle }, at) => ({
    text: `${shorten(clean(text), half - 2).padEnd(half)}${two[at]?.text ?? ''}`,
    isTitle,
  }));
}

const linesOf = ([title, facts]: Section): SectionLine[] => [
  { text: title, isTitle: true },
  ...facts.map(([name, value]) => ({ text: `  ${name.padEnd(labelWidth)}${value}`, isTitle: false })),
];

function bars(
  counts: Record<WorkerState, number>,
  width: number,
  paint: (style: Style, text: string) => string,
): string[] {
  const total = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const room = width - 2 - labelWidth - String(total).length - 1;
  return states.map((state) => {
    const count = counts[state];
    const label = `  ${state.padEnd(labelWidth)}`;
    if (room < 5) return shorten(`${label}${count}`, width);
    // Shows even one of a thousand.
    const filled = count === 0 ? 0 : Math.max(1, Math.round((count / total) * room));
    return `${label}${paint(styles[state], '#'.repeat(filled))}${' '.repeat(room - filled)} ${count}`;
  });
}

const shorten = (text: string, width: number): string =>
  text.length <= width ? text : `${text.slice(0, Math.max(0, width - 3))}...`.slice(0, Math.max(0, width));
