// Growth of an open cluster above the workspace's threshold: only an admin may request it, unless that cost was approved.
import type { ClusterView } from '../../contracts/cluster.ts';
import {
  type CostEstimate,
  estimateOf,
  growthNeedsApproval,
  isOwnRequest,
  mayGrow,
} from '../../domain/admission/approval.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { includes } from '../../domain/people/authority.ts';
import type { ClusterSpec } from '../../schema/cluster-spec.ts';
import type { StoredRecord } from '../../store/store.ts';
import { isAdmissionOf } from '../admission/admission-id.ts';
import { dearestMicros } from '../budgets/forecast.ts';
import type { Context } from '../context.ts';
import { offersFor } from '../offers.ts';
import { providerOf } from '../providers.ts';

/** @throws RopewalkError APPROVAL_REQUIRED */
export async function requireGrowth(
  { deps, actor }: Context,
  { view, record }: { view: ClusterView; record: StoredRecord<ClusterView> },
  instances: number,
): Promise<void> {
  const { workspace, number } = record;
  const rule = await deps.store.approvals.rule(workspace);
  if (rule === null) return;
  const maker = (await deps.tokenCache.find(workspace, actor.tokenId))?.token.createdBy;
  const isCreator = isAdmissionOf(actor.userId, record.admissionId);
  const isOwn = isOwnRequest({ isCreator, creator: record.user }, maker);
  if (mayGrow(rule, { isAdmin: includes(actor.scopes, 'admin'), isOwn })) return;
  const spec = await deps.views.clusterSpec(workspace, number);
  const approved = await deps.store.approvals.find(workspace, number);
  const now = Math.max(view.target, 1 + (view.dask?.adaptive?.maximum ?? 0));
  const [estimate, before] = await Promise.all([
    estimateAt({ deps }, spec, instances),
    estimateAt({ deps }, spec, now),
  ]);
  const problem = growthNeedsApproval(rule, { estimate, before, approved });
  if (problem !== null) throw new RopewalkError(problem);
}

/** Without its specification the price is unknown. */
async function estimateAt(
  { deps }: Pick<Context, 'deps'>,
  spec: ClusterSpec | null,
  instances: number,
): Promise<CostEstimate> {
  if (spec === null) return { microsPerHour: null, totalMicros: null };
  const { machines, provider, dask, maxCostMicros } = spec.settings;
  const { manifest, reader } = providerOf(deps.providers, provider);
  const place = reader.placeOf(manifest.kind === 'host' ? undefined : machines?.region);
  const named = [...(machines?.workerTypes ?? []), ...(machines?.headTypes ?? [])];
  const sold = { offers: await offersFor(manifest, place, named), addressPrices: place.addressPrices };
  return estimateOf({
    microsPerHour: dearestMicros({ ...(machines === undefined ? {} : { machines }), ...sold }, instances),
    maxMs: dask.maxLifetimeMs,
    maxCostMicros: maxCostMicros ?? null,
  });
}
