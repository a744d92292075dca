// Reads agents' log lines from Cloud Logging. The control plane stores none of them. An entry's payload is a line as agents
// write it (agent/logs/log-queue.ts), and its insert id is unique for the line, so Google drops resent lines. Lines arrive
// late, so a follower overlaps its reads a little.
import { setTimeout as sleep } from 'node:timers/promises';

import { gceLog } from '../../domain/cloud-names.ts';
import type { LogLine, LogQuery } from '../provider.ts';
import type { GcpClients } from './clients.ts';
import { readEntries } from './logs-api.ts';
import type { LogEntry } from './logs-api.ts';

/** A single follower stays well below the project's read limit. */
const pollMs = 5_000;
const lookBackMs = 30_000;

export async function* readCloudLogs(
  clients: Pick<GcpClients, 'project' | 'access' | 'accessToken'>,
  query: LogQuery,
): AsyncGenerator<LogLine> {
  const { signal } = query;
  const fromMs = query.sinceMs ?? 0;
  const seen = new Map<string, number>();
  let startMs = fromMs;
  for (;;) {
    try {
      for await (const entry of readEntries(clients, filterOf(clients.project, query, startMs), signal)) {
        const line = lineOf(entry);
        const key = `${line.instance} ${entry.insertId} ${entry.timestamp}`;
        if (seen.has(key)) continue;
        if (query.follow === true) seen.set(key, line.atMs);
        if (isWanted(line, query)) yield line;
      }
    } catch (error) {
      if (signal?.aborted === true) return;
      throw error;
    }
    if (query.follow !== true || signal?.aborted === true) return;
    startMs = Math.max(fromMs, Date.now() - lookBackMs);
    for (const [key, atMs] of seen) if (atMs < startMs) seen.delete(key);
    await sleep(pollMs, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
  }
}

function filterOf(project: string, { owner, instance }: LogQuery, startMs: number): string {
  const labels = [
    [gceLog.workspace, owner.workspace],
    [gceLog.cluster, String(owner.cluster)],
    ...(instance === undefined ? [] : [[gceLog.instance, instance]]),
  ];
  return [
    `logName="projects/${project}/logs/${gceLog.name}"`,
    ...labels.map(([key, value]) => `labels.${key}=${JSON.stringify(value)}`),
    // Without a bound, Cloud Logging returns only the last day.
    `timestamp>="${new Date(startMs).toISOString()}"`,
  ].join(' AND ');
}

/** An entry from another program is returned unchanged. */
function lineOf({ timestamp, labels, jsonPayload, textPayload }: LogEntry): LogLine {
  const { k, a, s, x } = jsonPayload ?? {};
  const numberOf = (field: unknown): number | null => (typeof field === 'number' ? field : null);
  return {
    atMs: Date.parse(timestamp ?? '') || 0,
    instance: labels?.[gceLog.instance] ?? '',
    task: numberOf(k),
    attempt: numberOf(a),
    stream: s === 'stdout' || s === 'stderr' ? s : 'agent',
    text: typeof x === 'string' ? x : (textPayload ?? JSON.stringify(jsonPayload ?? {})),
  };
}

const isWanted = (line: LogLine, { tasks }: LogQuery): boolean =>
  tasks === undefined || (line.task !== null && tasks.has(line.task));
