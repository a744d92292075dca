// Reads agents' log lines from CloudWatch Logs: one group per workspace, one stream per instance. The control plane stores none
// of them. Each event is a JSON line as agents write it (agent/aws/log-queue.ts).
//
// Each line is returned once: agents number their lines, and resend them when an answer is lost. Lines arrive late, and
// CloudWatch inserts them at their time, so a follower overlaps its reads a little each time and by more from time to time. A
// follower misses a line that arrives later than that; a new reader finds it.
import { setTimeout as sleep } from 'node:timers/promises';

import { FilterLogEventsCommand } from '@aws-sdk/client-cloudwatch-logs';
import type { FilteredLogEvent } from '@aws-sdk/client-cloudwatch-logs';

import { logGroupOf, logStreamOf } from '../../domain/cloud-names.ts';
import { RopewalkError } from '../../domain/errors.ts';
import type { LogLine, LogQuery } from '../provider.ts';
import type { AwsClients } from './clients.ts';
import { codeOf, messageOf } from './sdk-errors.ts';

export interface LogTimes {
  pollMs: number;
  lookBackMs: number;
  /** Each `farEvery`th read starts this far back. */
  farBackMs: number;
  farEvery: number;
}

const defaultTimes: LogTimes = { pollMs: 2_000, lookBackMs: 15_000, farBackMs: 5 * 60_000, farEvery: 8 };

export async function* readCloudLogs(
  clients: Pick<AwsClients, 'logs'>,
  query: LogQuery,
  times: LogTimes = defaultTimes,
): AsyncGenerator<LogLine> {
  const { signal } = query;
  const isAborted = (): boolean => signal?.aborted === true;
  const fromMs = query.sinceMs ?? 0;
  const seen = createSeen(times.farBackMs);
  let startMs = fromMs;
  let newestMs = fromMs;
  for (let round = 1; ; round += 1) {
    for await (const event of events(clients, query, startMs)) {
      if (isAborted()) return;
      const { number, line } = read(event);
      newestMs = Math.max(newestMs, line.atMs);
      const isNew = seen.add(`${event.logStreamName} ${number ?? event.eventId}`, line.atMs);
      if (isNew && isWanted(line, query)) yield line;
    }
    if (query.follow !== true || isAborted()) return;
    const backMs = round % times.farEvery === 0 ? times.farBackMs : times.lookBackMs;
    // An instance whose clock is ahead must not hide the lines of the others.
    startMs = Math.max(fromMs, Math.min(newestMs, Date.now()) - backMs);
    await sleep(times.pollMs, undefined, { ...(signal === undefined ? {} : { signal }) }).catch(() => undefined);
    if (isAborted()) return;
  }
}

async function* events(
  clients: Pick<AwsClients, 'logs'>,
  { owner, instance, signal }: LogQuery,
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
      const page = await clients.logs.send(command, { ...(signal === undefined ? {} : { abortSignal: signal }) });
      yield* page.events ?? [];
      nextToken = page.nextToken;
    } catch (error) {
      // The group does not exist before the first agent sends a line.
      if (signal?.aborted === true || codeOf(error) === 'ResourceNotFoundException') return;
      throw unreadable(error);
    }
  } while (nextToken !== undefined);
}

function unreadable(error: unknown): RopewalkError {
  const message = `CloudWatch Logs did not return the lines: ${codeOf(error)}: ${messageOf(error)}`;
  const hint = 'Run `ropewalk doctor`, and compare the policy of the API with docs/aws.md.';
  return new RopewalkError({ code: 'UNAVAILABLE', message, hint }, { cause: error });
}

interface Seen {
  /** False when it was added before. */
  add(key: string, atMs: number): boolean;
}

/** Remembers the lines that may be read again, as far back as reads go. A resent line keeps its time. */
function createSeen(keepMs: number): Seen {
  const known = new Map<string, number>();
  let newestMs = 0;
  let forgetAt = firstForgetAt;
  const forget = (): void => {
    for (const [key, atMs] of known) if (atMs < newestMs - keepMs) known.delete(key);
    // Bounds memory: with very many lines at the same time, a line may be returned twice.
    for (const key of known.keys()) {
      if (known.size <= maxSeen) break;
      known.delete(key);
    }
    forgetAt = Math.max(firstForgetAt, known.size * 2);
  };
  return {
    add: (key, atMs) => {
      if (known.has(key)) return false;
      known.set(key, atMs);
      newestMs = Math.max(newestMs, atMs);
      if (known.size >= forgetAt) forget();
      return true;
    },
  };
}

const firstForgetAt = 10_000;
const maxSeen = 500_000;

/** An event from another program is returned unchanged. */
function read(event: FilteredLogEvent): { number: number | null; line: LogLine } {
  const instance = event.logStreamName?.split('/')[1] ?? '';
  const atMs = event.timestamp ?? 0;
  const numberOf = (field: unknown): number | null => (typeof field === 'number' ? field : null);
  try {
    const value: { n?: unknown; k?: unknown; a?: unknown; s?: unknown; x?: unknown } = JSON.parse(event.message ?? '');
    if (typeof value.x !== 'string') throw new Error('not a line of an agent');
    const stream = value.s === 'stdout' || value.s === 'stderr' ? value.s : 'agent';
    const [task, attempt] = [numberOf(value.k), numberOf(value.a)];
    return { number: numberOf(value.n), line: { atMs, instance, task, attempt, stream, text: value.x } };
  } catch {
    const text = event.message ?? '';
    return { number: null, line: { atMs, instance, task: null, attempt: null, stream: 'agent', text } };
  }
}

const isWanted = (line: LogLine, { tasks }: LogQuery): boolean =>
  tasks === undefined || (line.task !== null && tasks.has(line.task));
