// The API's metrics. Agents have no endpoint to scrape, so their reports are counted here on arrival.
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';

import { durationBuckets } from './registry.ts';

export type UpdateKind = 'report' | 'exchange';

export interface FlushSeen {
  items: number;
  bytes: number;
  /** The batch window in effect: the longest wait of the oldest item for others. */
  windowMs: number;
  /** How long each item waited before it was sent. */
  waitedMs: number[];
  tookMs: number;
  outcome: 'answered' | 'closed' | 'failed';
}

export interface ApiMetrics {
  requestBegins(): void;
  /** `route` is the pattern, `/v1/jobs/:number`. */
  requestEnds(request: { route: string; method: string; status: number; ms: number }): void;
  streamBegins(route: string): void;
  streamEnds(route: string): void;
  flushed(update: UpdateKind, flush: FlushSeen): void;
  /** Rejected before it was sent: the queue is full or the item waited too long. */
  turnedAway(update: UpdateKind): void;
  taskResult(outcome: 'ok' | 'failed'): void;
  leasesGranted(count: number): void;
  viewRead(kind: ViewKind, from: 'cache' | 'source' | 'stale' | 'failed'): void;
  /** An attempt to start an admitted row's workflow. */
  workflowStart(result: 'started' | 'refused' | 'unavailable' | 'failed'): void;
}

/** Tokens are read from the database, views from their workflows. */
export type ViewKind = 'token' | 'job' | 'cluster';

/** Counts nothing, for code that runs without metrics. */
export const noMetrics: ApiMetrics = {
  requestBegins: () => undefined,
  requestEnds: () => undefined,
  streamBegins: () => undefined,
  streamEnds: () => undefined,
  flushed: () => undefined,
  turnedAway: () => undefined,
  taskResult: () => undefined,
  leasesGranted: () => undefined,
  viewRead: () => undefined,
  workflowStart: () => undefined,
};

export function createApiMetrics(registry: Registry): ApiMetrics {
  const registers = [registry];
  const counter = <T extends string>(name: string, help: string, labelNames: T[]) =>
    new Counter({ name: `ropewalk_${name}`, help, labelNames, registers });
  const histogram = <T extends string>(name: string, help: string, labelNames: T[], buckets: number[]) =>
    new Histogram({ name: `ropewalk_${name}`, help, labelNames, buckets, registers });
  const gauge = <T extends string>(name: string, help: string, labelNames: T[]) =>
    new Gauge({ name: `ropewalk_${name}`, help, labelNames, registers });

  const requests = counter('http_requests_total', 'Requests answered.', ['route', 'method', 'status']);
  const inFlight = gauge('http_requests_in_flight', 'Requests that wait for their answer.', []);
  const times = histogram(
    'http_request_duration_seconds',
    'From the first byte read to the head of the answer; a held long poll counts as long as it is held.',
    ['route', 'method'],
    durationBuckets,
  );
  const streams = gauge('open_streams', 'Open streams of logs and events.', ['route']);
  const flushes = counter('flushes_total', 'Group commits, by what became of them.', ['update', 'outcome']);
  const items = histogram(
    'flush_items',
    'Items in one group commit.',
    ['update'],
    [1, 2, 5, 10, 25, 50, 100, 250, 500],
  );
  const bytes = histogram('flush_bytes', 'Weight of one group commit.', ['update'], [1e2, 1e3, 1e4, 5e4, 1e5, 2.56e5]);
  const windows = histogram(
    'flush_window_seconds',
    'How long a group commit may wait for company.',
    ['update'],
    [0.025, 0.05, 0.1, 0.25, 0.5, 1, 2],
  );
  const waits = histogram('flush_wait_seconds', 'How long an item waited to be sent.', ['update'], durationBuckets);
  const flushTimes = histogram('flush_duration_seconds', 'From sent to answered.', ['update'], durationBuckets);
  const away = counter('flush_turned_away_total', 'Items refused because too many wait already.', ['update']);
  const results = counter('task_results_total', 'Results that agents sent, repeats included.', ['outcome']);
  const leases = counter('leases_granted_total', 'Leases that agents were given, repeats included.', []);
  const views = counter('view_reads_total', 'Reads of tokens, jobs and clusters, by their source.', ['kind', 'source']);
  const starts = counter('workflow_starts_total', 'Attempts to start an admitted job or cluster.', ['result']);

  return {
    requestBegins: () => inFlight.inc(),
    requestEnds: ({ route, method, status, ms }) => {
      inFlight.dec();
      requests.inc({ route, method, status: String(status) });
      times.observe({ route, method }, ms / 1_000);
    },
    streamBegins: (route) => streams.inc({ route }),
    streamEnds: (route) => streams.dec({ route }),
    flushed: (update, flush) => {
      flushes.inc({ update, outcome: flush.outcome });
      items.observe({ update }, flush.items);
      bytes.observe({ update }, flush.bytes);
      windows.observe({ update }, flush.windowMs / 1_000);
      flushTimes.observe({ update }, flush.tookMs / 1_000);
      for (const ms of flush.waitedMs) waits.observe({ update }, ms / 1_000);
    },
    turnedAway: (update) => away.inc({ update }),
    taskResult: (outcome) => results.inc({ outcome }),
    leasesGranted: (count) => leases.inc(count),
    viewRead: (kind, source) => views.inc({ kind, source }),
    workflowStart: (result) => starts.inc({ result }),
  };
}
