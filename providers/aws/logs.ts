// Reads what agents sent to CloudWatch Logs: group = workspace, one stream per instance. Nothing of it passes through the
// control plane's own storage. Each event is a JSON line as agents write them.
import { setTimeout as sleep } from 'node:timers/promises';

import { FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import type { FilteredLogEvent } from '@aws-sdk/client-cloudwatch-logs';

import type { LogLine, LogQuery } from '../provider.ts';
import type { AwsClients } from './clients.ts';
import { codeOf } from './sdk-errors.ts';

export const logGroupOf = (workspace: string): string => `ropewalk/${workspace}`;
/** Streams of a cluster share this prefix, so that one call reads them all. */
export const logStreamOf = (cluster: number, instance: string): string => `${cluster}/${instance}`;

/** CloudWatch takes seconds to show what was put, so what follows looks back this far. */
const lookBackMs = 10_000;
const pollMs = 2_000;

export async function* readCloudLogs(clients: AwsClients, query: LogQuery): AsyncGenerator<LogLine> {
  let sinceMs = query.sinceMs ?? 0;
  let seen = new Set<string>();
  for (;;) {
    const recent = new Set<string>();
    for await (const event of events(clients, query, sinceMs)) {
      const id = event.eventId ?? '';
      recent.add(id);
      if (seen.has(id)) continue;
      sinceMs = Math.max(sinceMs, event.timestamp ?? 0);
      const line = lineOf(event);
      if (line !== null && isWanted(line, query)) yield line;
    }
    if (query.follow !== true || query.signal?.aborted === true) return;
    seen = recent;
    sinceMs = Math.max(query.sinceMs ?? 0, sinceMs - lookBackMs);
    await sleep(pollMs, undefined, { signal: query.signal }).catch(() => undefined);
  }
}

async function* events(
  clients: AwsClients,
  { owner, instance }: LogQuery,
  startTime: number,
): AsyncGenerator<FilteredLogEvent> {
  const stream = instance === undefined ? `${owner.cluster}/` : logStreamOf(owner.cluster, instance);
  let nextToken: string | undefined;
  do {
    const command = new FilterLogEventsCommand({
      logGroupName: logGroupOf(owner.workspace),
      logStreamNamePrefix: stream,
      startTime,
      ...(nextToken === undefined ? {} : { nextToken }),
    });
    try {
      const page = await clients.logs.send(command);
      yield* page.events ?? [];
      nextToken = page.nextToken;
    } catch (error) {
      // The first agent that has something to say makes the group.
      if (codeOf(error) === 'ResourceNotFoundException') return;
      throw error;
    }
  } while (nextToken !== undefined);
}

function lineOf(event: FilteredLogEvent): LogLine | null {
  const instance = event.logStreamName?.split('/')[1] ?? '';
  const atMs = event.timestamp ?? 0;
  try {
    const value: { k?: unknown; a?: unknown; s?: unknown; x?: unknown } = JSON.parse(event.message ?? '');
    const stream = value.s === 'stdout' || value.s === 'stderr' ? value.s : 'agent';
    const number = (field: unknown): number | null => (typeof field === 'number' ? field : null);
    return { atMs, instance, task: number(value.k), attempt: number(value.a), stream, text: String(value.x) };
  } catch {
    return { atMs, instance, task: null, attempt: null, stream: 'agent', text: event.message ?? '' };
  }
}

const isWanted = (line: LogLine, { tasks }: LogQuery): boolean =>
  tasks === undefined || (line.task !== null && tasks.includes(line.task));
