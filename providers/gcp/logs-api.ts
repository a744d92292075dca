// Reads entries of Cloud Logging by its REST API. Google allows about 60 reads a minute for a whole project, so all readers of
// this process share a budget of half of that.
import { setTimeout as sleep } from 'node:timers/promises';

import { RopewalkError } from '../../domain/errors.ts';
import type { GcpClients } from './clients.ts';

export interface LogEntry {
  insertId?: string;
  timestamp?: string;
  labels?: Record<string, string>;
  jsonPayload?: Record<string, unknown>;
  textPayload?: string;
}

interface Page {
  entries?: LogEntry[];
  nextPageToken?: string;
}

const betweenReadsMs = 2_000;
const readsAtOnce = 10;
const attemptTimeoutMs = 30_000;
const maxThrottled = 5;

/** The `performance.now()` time of the next permitted read. After a pause, a few reads may start at once. */
let nextReadMs = 0;

async function takeTurn(signal: AbortSignal | undefined): Promise<void> {
  const nowMs = performance.now();
  nextReadMs = Math.max(nextReadMs, nowMs - readsAtOnce * betweenReadsMs) + betweenReadsMs;
  if (nextReadMs > nowMs) await sleep(nextReadMs - nowMs, undefined, signal === undefined ? {} : { signal });
}

/** Every entry that matches the filter, oldest first. */
export async function* readEntries(
  { project, access, accessToken }: Pick<GcpClients, 'project' | 'access' | 'accessToken'>,
  filter: string,
  signal: AbortSignal | undefined,
): AsyncGenerator<LogEntry> {
  const url = `${access.loggingEndpoint ?? 'https://logging.googleapis.com'}/v2/entries:list`;
  let pageToken: string | undefined;
  do {
    const body = {
      resourceNames: [`projects/${project}`],
      filter,
      orderBy: 'timestamp asc',
      pageSize: 1_000,
      pageToken,
    };
    const page = await readPage(url, JSON.stringify(body), accessToken, signal);
    yield* page.entries ?? [];
    pageToken = page.nextPageToken === '' ? undefined : page.nextPageToken;
  } while (pageToken !== undefined);
}

async function readPage(
  url: string,
  body: string,
  accessToken: () => Promise<string>,
  signal: AbortSignal | undefined,
): Promise<Page> {
  for (let throttled = 0; ; throttled += 1) {
    await takeTurn(signal);
    const timeout = AbortSignal.timeout(attemptTimeoutMs);
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${await accessToken()}` },
      body,
      signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
    });
    const text = await response.text();
    if (response.ok) return JSON.parse(text);
    if (response.status !== 429 || throttled >= maxThrottled) {
      const message = `Cloud Logging did not return the lines: ${response.status}: ${text.slice(0, 500)}`;
      const hint = 'Run `ropewalk doctor`, and compare the roles of the API with docs/gcp.md.';
      throw new RopewalkError({ code: 'UNAVAILABLE', message, hint });
    }
    await sleep(betweenReadsMs * 2 ** throttled, undefined, signal === undefined ? {} : { signal });
  }
}
