// Reads what agents sent to CloudWatch Logs: group = workspace, one stream per instance. Nothing of it passes through the
// control plane's own storage. Each event is a JSON line as agents write them (agent/aws/log-queue.ts).
//
// A line comes once: agents number what they send, and send it again when an answer was lost. Following looks back, because
// lines arrive late and CloudWatch sorts them in where they belong: a little each time, further now and then. A line that is
// later than that is missed by who follows, and found by who reads anew.
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
  /** Each `farEvery`th look goes back this far. */
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
  const isLeft = (): boolean => signal?.aborted === true;
  const fromMs = query.sinceMs ?? 0;
  const seen = createSeen(times.farBackMs);
  let startMs = fromMs;
  let newestMs = fromMs;
  for (let look = 1; ; look += 1) {
    for await (const event of events(clients, query, startMs)) {
      if (isLeft()) return;
      const { number, line } = read(event);
      newestMs = Math.max(newestMs, line.atMs);
      const isNew = seen.add(`${event.logStreamName} ${number ?? event.eventId}`, line.atMs);
      if (isNew && isWanted(line, query)) yield line;
    }
    if (query.follow !== true || isLeft()) return;
    const backMs = look % times.farEvery === 0 ? times.farBackMs : times.lookBackMs;
    // A clock that is ahead of ours must not make us look past what the others say.
    startMs = Math.max(fromMs, Math.min(newestMs, Date.now()) - backMs);
    await sleep(times.pollMs, undefined, { ...(signal === undefined ? {} : { signal }) }).catch(() => undefined);
    if (isLeft()) return;
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
      // The first agent that has something to say makes the group.
      if (signal?.aborted === true || codeOf(error) === 'ResourceNotFoundException') return;
      throw notRead(error);
    }
  } while (nextToken !== undefined);
}

function notRead(error: unknown): RopewalkError {
  const message = `CloudWatch Logs does not give the lines: ${codeOf(error)}: ${messageOf(error)}`;
  const hint = 'What is missing, if anything: ropewalk doctor, docs/aws.md (the policy of the API).';
  return new RopewalkError({ code: 'UNAVAILABLE', message, hint }, { cause: error });
}

interface Seen {
  /** False when it has been there before. */
  add(key: string, atMs: number): boolean;
}

/** Remembers what a look may meet again: as far back as looks go, and a line that was sent twice has one time. */
function createSeen(keepMs: number): Seen {
  const known = new Map<string, number>();
  let newestMs = 0;
  let forgetAt = firstForgetAt;
  const forget = (): void => {
    for (const [key, atMs] of known) if (atMs < newestMs - keepMs) known.delete(key);
    // Where very much is printed at once, rather a line twice than memory without end.
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

/** What is no line of an agent is shown as it is: somebody else may write there too. */
function read(event: FilteredLogEvent): { number: number | null; line: LogLine } {
  const instance = event.logStreamName?.split('/')[1] ?? '';
  const atMs = event.timestamp ?? 0;
  const numberOf = (field: unknown): number | null => (typeof field === 'number' ? field : null);
  try {
    const value: { n?: unknown; k?: unknown; a?: unknown; s?: unknown; x?: unknown } = JSON.parse(event.message ?? '');
    if (typeof value.x !== 'string') throw new Error('no line');
    const stream = value.s === 'stdout' || value.s === 'stderr' ? value.s : 'agent';
    const [task, attempt] = [numberOf(value.k), numberOf(value.a)];
    return { number: numberOf(value.n), line: { atMs, instance, task, attempt, stream, text: value.x } };
  } catch {
    const text = event.message ?? '';
    return { number: null, line: { atMs, instance, task: null, attempt: null, stream: 'agent', text } };
  }
}

const isWanted = (line: LogLine, { tasks }: LogQuery): boolean =>
  tasks === undefined || (line.task !== null && tasks.includes(line.task));
