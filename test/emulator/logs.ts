// CloudWatch Logs: groups, streams, events, with the bounds of its documentation.
import { z } from 'zod';

import { AwsError } from './aws-error.ts';
import { hexId } from './state.ts';
import type { LogEvent, LogGroup, Region } from './state.ts';

const name = z.string().default('');
const bodySchema = z.object({
  logGroupName: name,
  logStreamName: name,
  logStreamNames: z.array(z.string()).optional(),
  logStreamNamePrefix: name,
  retentionInDays: z.number().optional(),
  logEvents: z.array(z.object({ timestamp: z.number(), message: z.string() })).default([]),
  startTime: z.number().default(0),
  endTime: z.number().default(Number.POSITIVE_INFINITY),
  nextToken: z.string().optional(),
  limit: z.number().int().default(10_000),
  filterPattern: name,
});
type Body = z.infer<typeof bodySchema>;

type Handler = (region: Region, body: Body, nowMs: number) => object;

const maxBytes = 1_048_576;
const maxEvents = 10_000;
const perEvent = 26;
const maxAgeMs = 14 * 86_400_000;
const maxAheadMs = 2 * 3_600_000;
const maxSpanMs = 24 * 3_600_000;
const retentions = [
  1, 3, 5, 7, 14, 30, 60, 90, 120, 150, 180, 365, 400, 545, 731, 1096, 1827, 2192, 2557, 2922, 3288, 3653,
];

const handlers: Record<string, Handler> = {
  CreateLogGroup(region, body) {
    const name = body.logGroupName;
    if (!/^[.\-_/#A-Za-z0-9]{1,512}$/.test(name)) throw invalid(`The log group name ${name} is not valid.`);
    if (region.logGroups.has(name)) throw exists('The specified log group already exists');
    region.logGroups.set(name, { retentionDays: null, streams: new Map() });
    return {};
  },
  PutRetentionPolicy(region, body) {
    if (!retentions.includes(body.retentionInDays ?? 0)) throw invalid('retentionInDays is not a valid value.');
    groupOf(region, body).retentionDays = body.retentionInDays ?? null;
    return {};
  },
  CreateLogStream(region, body) {
    const { streams } = groupOf(region, body);
    const name = body.logStreamName;
    if (!/^[^:*]{1,512}$/.test(name)) throw invalid(`The log stream name ${name} is not valid.`);
    if (streams.has(name)) throw exists('The specified log stream already exists');
    streams.set(name, []);
    return {};
  },
  DescribeLogGroups(region) {
    return {
      logGroups: [...region.logGroups].map(([logGroupName, { retentionDays }]) => ({
        logGroupName,
        ...(retentionDays === null ? {} : { retentionInDays: retentionDays }),
      })),
    };
  },
  DescribeLogStreams(region, body) {
    const prefix = body.logStreamNamePrefix;
    const names = [...groupOf(region, body).streams.keys()].filter((name) => name.startsWith(prefix));
    return { logStreams: names.map((logStreamName) => ({ logStreamName })) };
  },
  PutLogEvents(region, body, nowMs) {
    const stream = streamOf(groupOf(region, body), body);
    const events = body.logEvents;
    check(events);
    const tooOld = events.filter(({ timestamp }) => timestamp < nowMs - maxAgeMs).length;
    const tooNew = events.findIndex(({ timestamp }) => timestamp > nowMs + maxAheadMs);
    const good = events.filter(({ timestamp }) => timestamp >= nowMs - maxAgeMs && timestamp <= nowMs + maxAheadMs);
    stream.push(...good.map((event) => ({ ...event, eventId: hexId('event'), ingestionTime: nowMs })));
    return {
      nextSequenceToken: 'ignored',
      ...(tooOld === 0 && tooNew === -1
        ? {}
        : {
            rejectedLogEventsInfo: {
              ...(tooOld === 0 ? {} : { tooOldLogEventEndIndex: tooOld }),
              ...(tooNew === -1 ? {} : { tooNewLogEventStartIndex: tooNew }),
            },
          }),
    };
  },
  GetLogEvents(region, body) {
    checkRange(body);
    const events = between(streamOf(groupOf(region, body), body), body);
    const from = Number.parseInt((body.nextToken ?? 'f/0').slice(2), 10);
    const limit = body.limit;
    const token = `f/${Math.min(events.length, from + limit)}`;
    return {
      events: events.slice(from, from + limit).map(withoutId),
      nextForwardToken: token,
      nextBackwardToken: 'b/0',
    };
  },
  FilterLogEvents(region, body) {
    const group = groupOf(region, body);
    checkRange(body);
    const names = body.logStreamNames ?? null;
    const prefix = body.logStreamNamePrefix;
    const all = [...group.streams]
      .filter(([name]) => (names === null ? name.startsWith(prefix) : names.includes(name)))
      .flatMap(([logStreamName, events]) => between(events, body).map((event) => ({ ...event, logStreamName })))
      .filter(({ message }) => holds(body.filterPattern, message))
      .sort((a, b) => a.timestamp - b.timestamp);
    const from = Number(body.nextToken ?? 0);
    const limit = body.limit;
    const isMore = from + limit < all.length;
    return {
      events: all.slice(from, from + limit),
      searchedLogStreams: [],
      ...(isMore ? { nextToken: String(from + limit) } : {}),
    };
  },
};

export function callLogs(region: Region, action: string, body: unknown, nowMs: number): object {
  const handler = handlers[action];
  if (handler === undefined) throw new AwsError('UnknownOperationException', '');
  return handler(region, bodySchema.parse(body), nowMs);
}

function groupOf(region: Region, body: Body): LogGroup {
  const found = region.logGroups.get(body.logGroupName);
  if (found === undefined) throw new AwsError('ResourceNotFoundException', 'The specified log group does not exist.');
  return found;
}

function streamOf(group: LogGroup, body: Body): LogEvent[] {
  const found = group.streams.get(body.logStreamName);
  if (found === undefined) throw new AwsError('ResourceNotFoundException', 'The specified log stream does not exist.');
  return found;
}

function check(events: { timestamp: number; message: string }[]): void {
  if (events.length === 0 || events.length > maxEvents) throw invalid(`1 to ${maxEvents} log events`);
  const bytes = events.reduce((sum, { message }) => sum + Buffer.byteLength(message) + perEvent, 0);
  if (bytes > maxBytes) throw invalid('Upload too large');
  const inOrder = events.every((event, at) => at === 0 || event.timestamp >= (events[at - 1]?.timestamp ?? 0));
  if (!inOrder) throw invalid('Log events in a single PutLogEvents request must be in chronological order.');
  if ((events.at(-1)?.timestamp ?? 0) - (events[0]?.timestamp ?? 0) > maxSpanMs)
    throw invalid('The batch of log events in a single PutLogEvents request cannot span more than 24 hours.');
  if (events.some(({ message }) => message.length === 0)) throw invalid('Log event message must not be empty.');
}

function checkRange({ startTime, endTime, limit, logStreamNames, logStreamNamePrefix, nextToken = '0' }: Body): void {
  if (!/^([bf]\/)?\d+$/.test(nextToken)) throw invalid('The specified nextToken is invalid.');
  if (startTime < 0) throw invalid('startTime must be at least 0.');
  if (endTime <= startTime) throw invalid('End time must be after start time.');
  if (limit < 1 || limit > maxEvents) throw invalid(`limit must be between 1 and ${maxEvents}.`);
  if (logStreamNames !== undefined && logStreamNamePrefix !== '') {
    throw invalid('LogStreamNamePrefix and LogStreamNames may not be specified together.');
  }
  if ((logStreamNames?.length ?? 1) > 100 || logStreamNames?.length === 0) throw invalid('1 to 100 log stream names.');
}

const between = <T extends { timestamp: number }>(events: readonly T[], { startTime, endTime }: Body): T[] =>
  events.filter(({ timestamp }) => timestamp >= startTime && timestamp < endTime);

/** Of the pattern language, only a quoted or a bare term. */
function holds(pattern: string, message: string): boolean {
  return pattern === '' || message.includes(pattern.replace(/^"(.*)"$/, '$1'));
}

/** GetLogEvents returns no ids. */
const withoutId = ({ timestamp, message, ingestionTime }: LogEvent): object => ({ timestamp, message, ingestionTime });

const invalid = (message: string): AwsError => new AwsError('InvalidParameterException', message);
const exists = (message: string): AwsError => new AwsError('ResourceAlreadyExistsException', message);
