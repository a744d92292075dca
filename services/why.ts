// Explains a cluster or job in sentences, from its view, the ledger, its specification, the offers and the quota.
import type { NumberedEvent } from '../domain/cluster/history.ts';
import { explainCluster } from '../domain/cluster/why.ts';
import { explainJob } from '../domain/job/why.ts';
import type { Offer } from '../domain/offers/offer.ts';
import { explainTypes } from '../domain/offers/why.ts';
import { explainQuota } from '../domain/quota/why.ts';
import type { WhySentence } from '../domain/why.ts';
import type { ClusterSpec } from '../schema/cluster-spec.ts';
import type { JobSpec } from '../schema/job-spec.ts';
import type { Why } from '../schema/why.ts';
import { requireCreator } from './auth/privacy.ts';
import { requireScope } from './auth/scopes.ts';
import { newestEvents } from './clusters/events.ts';
import type { Context } from './context.ts';
import { openOrEndedCluster } from './jobs/cluster-of-job.ts';
import { readUsage } from './people/usage.ts';
import { offersFor } from './offers.ts';
import { providerOf } from './providers.ts';
import { timeOrNull } from './to-wire.ts';
import type { Viewed } from './views.ts';

interface Subject {
  number: number;
  user: string;
  provider: string;
  settings: JobSpec['settings'] | ClusterSpec['settings'] | null;
  events: readonly NumberedEvent[];
}

/** @throws RopewalkError NOT_FOUND, and FORBIDDEN for another user's private cluster. */
export async function explainClusterNow(context: Context, { number }: { number: number }): Promise<Why> {
  const { deps, actor } = context;
  requireScope(actor, 'read');
  const viewed = await deps.views.cluster(actor.workspace, number);
  requireCreator(actor, 'Cluster', viewed.record, 'may read why it is as it is');
  const { view } = viewed;
  const spec = await (view.job === null
    ? deps.views.endedClusterSpec(actor.workspace, number)
    : deps.views.endedJobSpec(actor.workspace, number));
  const settings = spec?.settings ?? null;
  const idleTimeoutMs = settings !== null && 'dask' in settings ? settings.dask.idleTimeoutMs : null;
  const events = await newestEvents(deps, view);
  const own = explainCluster({ ...view, events }, idleTimeoutMs);
  return answer(viewed, [...own, ...(await explainAround(context, { ...view, settings, events }, own))]);
}

/** @throws RopewalkError NOT_FOUND, and FORBIDDEN for another user's private job. */
export async function explainJobNow(context: Context, { number }: { number: number }): Promise<Why> {
  const { deps, actor } = context;
  requireScope(actor, 'read');
  const viewed = await deps.views.job(actor.workspace, number);
  requireCreator(actor, 'Job', viewed.record, 'may read why it is as it is');
  const { view } = viewed;
  const settings = (await deps.views.endedJobSpec(actor.workspace, number))?.settings ?? null;
  const cluster = await openOrEndedCluster(context, view);
  const events = cluster === null ? [] : await newestEvents(deps, cluster);
  const own = explainJob(view, view.endedAtMs === null ? cluster : null, settings, events);
  return answer(viewed, [...own, ...(await explainAround(context, { ...view, settings, events }, own))]);
}

/** Adds facts outside the view: the quota while it may still grow, and its instance types. */
async function explainAround(context: Context, subject: Subject, own: WhySentence[]): Promise<WhySentence[]> {
  const hasEnded = own.some(({ about }) => about === 'end');
  const quota = hasEnded || subject.settings === null ? null : await readQuota(context, subject);
  const ledger = await context.deps.store.costs.ofClusters([subject.number]);
  const types = explainTypes({
    provider: subject.provider,
    machines: subject.settings?.machines ?? null,
    offers: await offersOf(context, subject),
    launched: ledger.get(subject.number) ?? [],
    events: subject.events,
  });
  return [...(quota === null ? [] : explainQuota(quota)), ...types];
}

async function readQuota(context: Context, { user, settings }: Subject) {
  const { deps, actor } = context;
  const [workspace, users, usage] = await Promise.all([
    deps.store.workspaces.find(actor.workspace),
    deps.store.people.listUsers(actor.workspace),
    readUsage(context),
  ]);
  if (workspace === null) return null;
  const own = users.find(({ name }) => name === user)?.limits ?? {};
  return {
    user,
    workspace: { limits: workspace.limits, use: usage.total },
    ofUser: { limits: { ...workspace.perUser, ...own }, use: usage.of(user) },
    instanceVcpus: settings?.instanceVcpus ?? 1,
  };
}

/** Prices are optional: a provider or region that is no longer configured, or does not answer, leaves them out. */
async function offersOf({ deps }: Context, { provider, settings }: Subject): Promise<readonly Offer[]> {
  const machines = settings?.machines;
  if (machines === undefined) return [];
  try {
    const { manifest, reader } = providerOf(deps.providers, provider);
    const named = [...machines.workerTypes, ...machines.headTypes];
    return await offersFor(manifest, reader.placeOf(machines.region), named);
  } catch (error) {
    deps.logger.warn({ err: error, provider }, 'offers could not be read for an explanation');
    return [];
  }
}

const answer = (
  { view: { number, status }, staleSinceMs }: Viewed<{ number: number; status: string }>,
  sentences: WhySentence[],
): Why => ({
  number,
  status,
  sentences: sentences.map(({ facts, ...sentence }) => ({
    ...sentence,
    facts: facts.map(({ atMs, ...fact }) => ({ ...fact, at: timeOrNull(atMs) })),
  })),
  staleSince: timeOrNull(staleSinceMs),
});
