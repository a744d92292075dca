// The bundle of an instance: a job's command, environment and files, or the settings of a cluster's Dask processes. Opened only for an instance of
// that job or cluster.
import { RopewalkError } from '../../domain/errors.ts';
import { sealedForDays } from '../../domain/cluster/limits.ts';
import type { InstanceContext } from '../context.ts';
import { requireLive } from './live-instance.ts';

/** Returns the bundle as JSON text, as sealed; parsing 16 MiB for each of a thousand agents would serve no purpose. */
export async function readBundle(context: InstanceContext): Promise<Uint8Array<ArrayBuffer>> {
  const { deps, actor } = context;
  const { workspace, cluster, job } = actor;
  const { instance } = await requireLive(context, knownMaxAgeMs);
  const spec = await (job === null ? deps.views.clusterSpec(workspace, cluster) : deps.views.jobSpec(workspace, job));
  const bytes = spec === null || instance === null ? null : await deps.vault.open(spec.bundleRef);
  if (bytes !== null) return bytes;
  const what = job === null ? 'cluster' : 'job';
  // An open cluster of that age has outlived its bundle; without a specification, it may have just ended.
  if (spec !== null && Date.parse(spec.createdAt) + sealedForDays * 86_400_000 <= deps.now()) throw outlived(what);
  throw new RopewalkError({
    code: 'NOT_FOUND',
    message: `There is no bundle: the ${what} has ended.`,
    hint: 'This agent should end.',
  });
}

/** An agent reads its bundle once. */
const knownMaxAgeMs = 1_000;

const outlived = (what: 'cluster' | 'job') =>
  new RopewalkError({
    code: 'EXPIRED',
    message: `This ${what} is open for more than ${sealedForDays} days, and what it was started with is no longer kept.`,
    hint: `It gets no new instance going: start a new ${what}.`,
  });
