// Resolves a job or cluster to its number: a number is used as it is, the server finds a name.
import type { Client } from '../sdk/client.ts';
import { NotFoundError } from '../sdk/client.ts';
import type { Reference } from './arguments.ts';

export const numberOfJob = (client: Client, reference: Reference, signal?: AbortSignal): Promise<number> =>
  numberOf('job', 'batch', client.jobs, reference, signal);

export const numberOfCluster = (client: Client, reference: Reference, signal?: AbortSignal): Promise<number> =>
  numberOf('cluster', 'cluster', client.clusters, reference, signal);

interface Finder {
  find(name: string, options: { signal?: AbortSignal }): Promise<{ number: number } | null>;
}

async function numberOf(
  noun: string,
  group: string,
  finder: Finder,
  reference: Reference,
  signal?: AbortSignal,
): Promise<number> {
  if (typeof reference === 'number') return reference;
  const found = await finder.find(reference, { ...(signal && { signal }) });
  if (found !== null) return found.number;
  throw new NotFoundError(`no open ${noun} has the name ${reference}`, {
    code: 'NOT_FOUND',
    status: 404,
    hint: `An ended one releases its name: find its number with ropewalk ${group} list --name ${reference}.`,
  });
}
