// Output as printed, line by line. Following ends when its job or cluster has ended and no more lines arrive, or when the reader disconnects. Nothing
// is stripped or coloured here; clients decide which characters are safe to print.
import type { LogLine, TaskIds } from '../providers/provider.ts';
import type { LogLine as WireLine } from '../schema/jobs.ts';
import type { Deps } from './context.ts';
import { logsOf } from './providers.ts';
import { shuttingDown } from './shutting-down.ts';
import { time } from './to-wire.ts';

export interface LinesWanted {
  provider: string;
  region: string | undefined;
  owner: { workspace: string; cluster: number };
  /** All tasks when absent. */
  tasks?: TaskIds;
  instance?: string;
  since: string | undefined;
  follow: boolean;
  /** Aborts when the reader has disconnected. */
  signal: AbortSignal;
  /** Called periodically while following. */
  hasEnded: () => Promise<boolean>;
}

/** Throws at once when the provider has no such logs, because an error in the middle of an answer would not reach the client. */
export function streamLines(
  deps: Pick<Deps, 'providers' | 'monotonicMs' | 'stopping'>,
  wanted: LinesWanted,
): AsyncGenerator<WireLine> {
  const ended = new AbortController();
  const { provider, region, since, signal, hasEnded: _, ...query } = wanted;
  const lines = logsOf(deps.providers, provider, {
    ...query,
    ...(region === undefined ? {} : { region }),
    signal: AbortSignal.any([signal, deps.stopping, ended.signal]),
    ...(since === undefined ? {} : { sinceMs: Date.parse(since) }),
  });
  const isHost = deps.providers.some(({ manifest }) => manifest.name === provider && manifest.kind === 'host');
  return shown(deps, { ...wanted, quietMs: isHost ? hostQuietMs : cloudQuietMs }, lines, ended);
}

async function* shown(
  deps: Pick<Deps, 'monotonicMs' | 'stopping'>,
  { follow, hasEnded, quietMs }: LinesWanted & { quietMs: number },
  lines: AsyncIterable<LogLine>,
  ended: AbortController,
): AsyncGenerator<WireLine> {
  const heard = { atMs: deps.monotonicMs() };
  const watch = follow ? endWhenDrained(deps, hasEnded, heard, ended, quietMs) : null;
  try {
    for await (const { atMs, instance, task, attempt, stream, text } of lines) {
      heard.atMs = deps.monotonicMs();
      yield { at: time(atMs), instance, task, attempt, stream, text };
    }
    // A stream that ends because this process stops must not look complete to its reader.
    if (deps.stopping.aborted) throw shuttingDown();
  } catch (error) {
    if (!ended.signal.aborted) throw error;
  } finally {
    ended.abort();
    await watch;
  }
}

/** After the end, waits until no line has arrived for a moment, then ends the following. */
async function endWhenDrained(
  deps: Pick<Deps, 'monotonicMs' | 'stopping'>,
  hasEnded: () => Promise<boolean>,
  heard: { atMs: number },
  ended: AbortController,
  quietMs: number,
): Promise<void> {
  let isKnownEnded = false;
  while (!ended.signal.aborted && !deps.stopping.aborted) {
    isKnownEnded ||= await hasEnded().catch(() => false);
    if (isKnownEnded && deps.monotonicMs() - heard.atMs >= quietMs) ended.abort();
    else await pause(isKnownEnded ? quietMs / 4 : pollMs, ended.signal);
  }
}

const pollMs = 1_000;
/** The files of a host are read four times a second. */
const hostQuietMs = 1_000;
/** An agent sends its last lines within seconds of its end, and a cloud's logs show them some seconds later. */
const cloudQuietMs = 15_000;

/** Resolves early when the signal aborts. */
function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, ms);
    signal.addEventListener('abort', done);
  });
}
