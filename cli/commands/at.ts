// `ropewalk batch at JOB TIME` and `ropewalk cluster at CLUSTER TIME`: prints its state at a past time.
import { Command } from 'commander';

import type { ClusterAt, JobAt } from '../../sdk/client.ts';
import type { Reference } from '../arguments.ts';
import { parseReference, parseSince } from '../arguments.ts';
import { oneLine } from '../clusters.ts';
import type { CliContext, ConnectionFlags, Finish, FormatFlag } from '../context.ts';
import { connect, withConnection, withFormat } from '../context.ts';
import { formatDollars } from '../dollars.ts';
import { exitCodes } from '../errors.ts';
import { numberOfCluster, numberOfJob, referenceHelp } from '../references.ts';
import { formatTable } from '../table.ts';
import { formatTime } from '../times.ts';

type Flags = ConnectionFlags & FormatFlag;

const timeHelp = 'a past time ("2026-01-31 12:00", local) or an age (20m)';

export function clusterAtCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('at')
    .description('Show a cluster, open or ended, as of a past time. Times are local.')
    .argument('<cluster>', referenceHelp('cluster'), parseReference)
    .argument('<time>', timeHelp, parseSince);
  return withFormat(withConnection(command)).action(async (reference: Reference, time: Date, flags: Flags) => {
    const client = await connect(context, flags);
    const at = await client.clusters.at(await numberOfCluster(client, reference), time);
    if (flags.format === 'json') context.output.json(at);
    else context.output.out(formatCluster(at));
    finish(exitCodes.ok);
  });
}

export function jobAtCommand(context: CliContext, finish: Finish): Command {
  const command = new Command('at')
    .description('Show a job, open or ended, as of a past time. Times are local.')
    .argument('<job>', referenceHelp('job'), parseReference)
    .argument('<time>', timeHelp, parseSince);
  return withFormat(withConnection(command)).action(async (reference: Reference, time: Date, flags: Flags) => {
    const client = await connect(context, flags);
    const at = await client.jobs.at(await numberOfJob(client, reference), time);
    if (flags.format === 'json') context.output.json(at);
    else context.output.out(formatJob(at));
    finish(exitCodes.ok);
  });
}

function formatCluster(at: ClusterAt): string {
  const workers = at.workersStarted === null ? '' : `, ${at.workersStarted} workers started`;
  return [
    `Cluster ${at.number} (${at.name}) at ${formatTime(at.at)}: ${at.status}${reasonOf(at)}`,
    `Instances: ${at.instances.length} of ${at.target}${workers}`,
    ...moneyAndInstances(at),
    ...at.events
      .slice(-maxEventsShown)
      .map((event) => `${formatTime(event.at)}  ${event.code}  ${oneLine(event.text)}`),
  ].join('\n');
}

function formatJob(at: JobAt): string {
  const { total, ...counts } = at.tasks;
  const some = Object.entries(counts).filter(([, count]) => count > 0);
  return [
    `Job ${at.number} (${at.name}) at ${formatTime(at.at)}: ${at.status}${reasonOf(at)}`,
    `Tasks: ${some.map(([state, count]) => `${count} ${state}`).join(', ')} of ${total}`,
    `Instances: ${at.instances.length}`,
    ...moneyAndInstances(at),
  ].join('\n');
}

const moneyAndInstances = ({ dollars, dollarsPerHour, instances }: ClusterAt | JobAt): string[] => [
  `Cost so far: ${formatDollars(dollars)}, ${formatDollars(dollarsPerHour)} per hour`,
  ...(instances.length === 0 ? [] : [formatInstances(instances)]),
];

function formatInstances(instances: ClusterAt['instances']): string {
  const titles = ['Instance', 'Role', 'Type', 'State', 'Dask', 'Reached'];
  return formatTable(
    titles.map((title) => ({ title, align: 'left' })),
    instances.map(({ id, role, type, market, state, process, stages }) => [
      ...[id, role, market === 'spot' ? `${type} (spot)` : type, state, process ?? '', stages.at(-1)?.name ?? ''],
    ]),
  );
}

const reasonOf = ({ reason }: ClusterAt | JobAt): string => (reason === null ? '' : ` (${oneLine(reason.text)})`);

const maxEventsShown = 10;
