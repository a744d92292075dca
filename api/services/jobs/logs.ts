// A job's output as it was printed, line by line. Following ends when the job is over and nothing more comes; a reader who
// leaves ends it too. Nothing is stripped or coloured here: what is safe to print is for clients to decide.
import { RopewalkError } from '../../../domain/errors.ts';
import { parseArray } from '../../../domain/job/array.ts';
import type { LogLine as WireLine } from '../../../schema/jobs.ts';
import type { JobView } from '../../../workflows/job/messages.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context, Deps } from '../context.ts';
import { time } from '../to-wire.ts';

export interface LogsInput {
  number: number;
  tasks?: string | undefined;
  follow: boolean;
  since?: string | undefined;
  /** Aborts when the reader has left. */
  signal: AbortSignal;
}

/** Rejects before the first line for what can be known then: scope, number, task ids. */
export async function readLogs({ deps, actor }: Context, input: LogsInput): Promise<AsyncIterable<WireLine>> {
  requireScope(actor, 'read', { honourStale: true });
  const { view } = await deps.views.job(actor.workspace, input.number);
  const ended = new AbortController();
  const query = {
    owner: { workspace: view.workspace, cluster: input.number },
    follow: input.follow,
    signal: AbortSignal.any([input.signal, deps.stopping, ended.signal]),
    ...(input.tasks === undefined ? {} : { tasks: taskIds(input.tasks, view) }),
    ...(input.since === undefined ? {} : { sinceMs: Date.parse(input.since) }),
  };
  return toWire(deps, input, query, ended);
}

async function* toWire(
  deps: Deps,
  { number, follow }: LogsInput,
  query: Parameters<Deps['logs']>[0] & { owner: { workspace: string } },
  ended: AbortController,
): AsyncGenerator<WireLine> {
  const heard = { atMs: deps.now() };
  const watch = follow ? endWhenDrained(deps, query.owner.workspace, number, heard, ended) : null;
  try {
    for await (const { atMs, instance, task, attempt, stream, text } of deps.logs(query)) {
      heard.atMs = deps.now();
      yield { at: time(atMs), instance, task, attempt, stream, text };
    }
    // A stream that our own end cuts short must not look complete to its reader.
    if (deps.stopping.aborted) throw new Error('the API is shutting down');
  } catch (error) {
    if (!ended.signal.aborted) throw error;
  } finally {
    ended.abort();
    await watch;
  }
}

/** Looks at the job now and then; once it is over, waits until no line has come for a moment, and ends the following. */
async function endWhenDrained(
  deps: Deps,
  workspace: string,
  number: number,
  heard: { atMs: number },
  ended: AbortController,
): Promise<void> {
  let isOver = false;
  while (!ended.signal.aborted && !deps.stopping.aborted) {
    isOver ||= await deps.views.job(workspace, number).then(
      ({ view }) => overStates.has(view.status),
      () => false,
    );
    if (isOver && deps.now() - heard.atMs >= quietMs) ended.abort();
    else await pause(isOver ? quietMs / 4 : pollMs, ended.signal);
  }
}

const overStates = new Set<JobView['status']>(['done', 'error', 'cancelled']);
const pollMs = 1_000;
/** The local provider looks at its files four times a second. */
const quietMs = 1_000;

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

function taskIds(syntax: string, view: JobView): number[] {
  const wanted = parseArray(syntax, 'tasks');
  const ids = Array.from({ length: wanted.count }, (_, index) => wanted.idAt(index));
  const array = parseArray(view.array);
  const unknown = ids.find((id) => array.indexOf(id) === null);
  if (unknown === undefined) return ids;
  throw new RopewalkError({
    code: 'VALIDATION',
    field: 'tasks',
    message: `tasks: job ${view.number} has no task ${unknown}; it has ${view.array}.`,
  });
}
