// Ends a job: no more leases, its agents drop what runs. Cancelling what is over changes nothing. While Temporal is away it
// is written down.
import { RopewalkError } from '../../domain/errors.ts';
import type { Job } from '../../schema/jobs.ts';
import { ownedJob, requireMayEnd } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { endNowOrLater } from '../intents/intents.ts';
import { lastKnownJob } from '../intents/last-known.ts';
import { showJob } from '../shown.ts';

export async function cancelJob(context: Context, { number }: { number: number }): Promise<Job> {
  const { deps, actor } = context;
  requireScope(actor, 'write', { honourStale: true });
  const known = await lastKnownJob(context, number);
  const { view } = known;
  requireMayEnd(actor, ownedJob(view));
  if (view.endedAtMs === null) {
    const told = await endNowOrLater(deps, { kind: 'cancel', number, workspace: actor.workspace, by: actor.user });
    if (told === 'later') return { ...showJob(context, known), acceptedForLater: true };
    if (told === 'missing' && view.status === 'pending') throw notYet(number);
    deps.views.expire(number);
  }
  return showJob(context, await lastKnownJob(context, number));
}

const notYet = (number: number) =>
  new RopewalkError(
    { code: 'NOT_YET', message: `Job ${number} is just being started.`, hint: 'Try again in a second.' },
    { retryAfterMs: 1_000 },
  );
