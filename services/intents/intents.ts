// What people want to end while Temporal is away: written down at once, told to its workflow when Temporal is back, also by
// another replica or after a restart. Ending something twice is ending it once, so that nothing here needs a lock.
import { z } from 'zod';

import { RopewalkError } from '../../domain/errors.ts';
import { clusterMessages, clusterWorkflowId, type StopSignal } from '../../contracts/cluster.ts';
import { jobMessages, jobWorkflowId, type CancelSignal } from '../../contracts/job.ts';
import type { Deps } from '../context.ts';

const intent = z.object({
  kind: z.enum(['stop', 'cancel']),
  number: z.number().int(),
  workspace: z.string(),
  by: z.string(),
});
export type Intent = z.infer<typeof intent>;

type Told = 'sent' | 'closed' | 'missing';

/** Tells the workflow, or writes down that it is to be told. */
export async function endNowOrLater(
  deps: Pick<Deps, 'workflows' | 'objects' | 'logger'>,
  wanted: Intent,
): Promise<Told | 'later'> {
  try {
    return await tell(deps, wanted);
  } catch (error) {
    if (!isAway(error)) throw error;
    await deps.objects.put(keyOf(wanted), Buffer.from(JSON.stringify(wanted)));
    deps.logger.warn({ ...wanted }, 'Temporal is away: written down, and told when it is back');
    return 'later';
  }
}

/** Tells what was written down. One that its workflow does not take yet stays for the next time. */
export async function deliverIntents(
  deps: Pick<Deps, 'workflows' | 'objects' | 'logger' | 'views'>,
): Promise<{ left: number }> {
  const keys = await deps.objects.list(prefix, { limit: atOnce });
  let left = keys.length;
  for (const key of keys) {
    try {
      const bytes = await deps.objects.get(key);
      const wanted = bytes === null ? null : intent.parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
      const told = wanted === null ? 'closed' : await tell(deps, wanted);
      if (wanted !== null && told === 'missing' && (await mayBeReserved(deps, wanted))) continue;
      await deps.objects.delete(key);
      left -= 1;
      if (wanted === null) continue;
      deps.views.expire(wanted.number);
      deps.logger.info({ ...wanted, told }, 'what was written down while Temporal was away has been told');
    } catch (error) {
      if (isAway(error)) return { left };
      // One that cannot be told must not keep those behind it waiting.
      deps.logger.error({ err: error, key }, 'what was written down while Temporal was away could not be told yet');
    }
  }
  return { left };
}

const prefix = 'intents/';
const atOnce = 200;
const keyOf = ({ kind, number }: Intent): string => `${prefix}${kind}-${number}.json`;

async function tell({ workflows }: Pick<Deps, 'workflows'>, { kind, number, by }: Intent): Promise<Told> {
  if (kind === 'stop') {
    const stop: StopSignal = { code: 'STOPPED', text: `Stopped by ${by}.`, by };
    return (await workflows.signal(clusterWorkflowId(number), clusterMessages.stop, stop)).kind;
  }
  const cancel: CancelSignal = { code: 'CANCELLED', text: `Cancelled by ${by}.`, by };
  return (await workflows.signal(jobWorkflowId(number), jobMessages.cancel, cancel)).kind;
}

/**
 * Admitted, and its workflow is still to be started. Signals are taken before the workers are back, and until then what is
 * known of the workspace may be older than the admission: only a workspace that answers can say no, or that is closed itself.
 */
async function mayBeReserved({ views }: Pick<Deps, 'views'>, { workspace, number }: Intent): Promise<boolean> {
  const { value, isStale } = await views.workspace(workspace, 0);
  return isStale || (value?.holders.some((holder) => holder.number === number) ?? false);
}

export const isAway = (error: unknown): boolean =>
  error instanceof RopewalkError && error.problem.code === 'UNAVAILABLE';
