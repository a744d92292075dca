// Resolves a job or cluster to its number: a number is used unchanged, the server finds a name.
import type { Client } from '../sdk/client.ts';
import { NotFoundError } from '../sdk/client.ts';
import type { Reference } from './arguments.ts';
import { UsageError } from './errors.ts';

/** For the help: a job keeps its name after its end, a cluster releases it. */
export const referenceHelp = (noun: 'job' | 'cluster'): string =>
  noun === 'job' ? 'number or name' : 'number, or name of an open cluster';

/** The newest job of that name: at most one is open, and it is the newest. */
export async function numberOfJob(client: Client, reference: Reference, signal?: AbortSignal): Promise<number> {
  if (typeof reference === 'number') return reference;
  const { items } = await client.jobs.list({ name: reference, limit: 1, ...(signal && { signal }) });
  if (items[0] !== undefined) return items[0].number;
  throw new NotFoundError(`no job has the name ${reference}`, {
    code: 'NOT_FOUND',
    status: 404,
    hint: 'ropewalk batch list shows the names of the newest jobs.',
  });
}

/** Of the workspace. `purpose`: "to wait for". */
export async function newestJob(client: Client, purpose: string, signal?: AbortSignal): Promise<number> {
  const { items } = await client.jobs.list({ limit: 1, ...(signal && { signal }) });
  if (items[0] !== undefined) return items[0].number;
  throw new UsageError(`there is no job ${purpose}`, 'Submit one: ropewalk batch run my_script.sh.');
}

export const numberOfCluster = (client: Client, reference: Reference, signal?: AbortSignal): Promise<number> =>
  numberOf(client.clusters, reference, signal);

interface Finder {
  find(name: string, options: { signal?: AbortSignal }): Promise<{ number: number } | null>;
}

async function numberOf(finder: Finder, reference: Reference, signal?: AbortSignal): Promise<number> {
  if (typeof reference === 'number') return reference;
  const found = await finder.find(reference, { ...(signal && { signal }) });
  if (found !== null) return found.number;
  throw new NotFoundError(`no open cluster has the name ${reference}`, {
    code: 'NOT_FOUND',
    status: 404,
    hint: `An ended one releases its name: find its number with ropewalk cluster list --name ${reference}.`,
  });
}
