// Turns adaptive scaling on, between two numbers of workers, or off. It runs in the cluster's workflow, so it continues after the client has
// disconnected. Its maximum is reserved at once from the limits of workspace and user.
import { RopewalkError } from '../../domain/errors.ts';
import type { Cluster } from '../../schema/clusters.ts';
import { clusterMessages, type AdaptSignal } from '../../contracts/cluster.ts';
import { requireCreator } from '../auth/privacy.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context } from '../context.ts';
import { requireGrowth } from '../approvals/growth.ts';
import { showCluster } from '../shown.ts';
import { readAdaptive, type AdaptiveInput } from './adaptive.ts';
import { findOpenDask } from './open-dask.ts';
import { withShare } from './share.ts';

export interface AdaptInput extends Omit<AdaptiveInput, 'minimum' | 'maximum'> {
  number: number;
  minimum?: number | undefined;
  maximum?: number | undefined;
}

export async function adaptCluster(context: Context, { number, ...bounds }: AdaptInput): Promise<Cluster> {
  const { deps, actor } = context;
  requireScope(actor, 'write');
  const adaptive = readBounds(bounds);
  const { view, record } = await findOpenDask(context, number);
  requireCreator(actor, 'Cluster', record, 'may scale it');
  if (adaptive !== null) await requireGrowth(context, { view, record }, adaptive.maximum + 1);
  await withShare<AdaptSignal>(context, view, clusterMessages.adapt, {
    kind: 'adapt',
    instances: adaptive === null ? 0 : adaptive.maximum + 1,
    signal: (asked) => ({ adaptive, ...asked }),
  });
  return showCluster(context, await deps.views.cluster(actor.workspace, number));
}

function readBounds({ minimum, maximum, ...more }: Omit<AdaptInput, 'number'>): AdaptSignal['adaptive'] {
  if (minimum === undefined && maximum === undefined) return null;
  if (minimum === undefined) throw invalid('minimum', 'is missing: adaptive scaling needs both minimum and maximum');
  if (maximum === undefined) throw invalid('maximum', 'is missing: adaptive scaling needs both minimum and maximum');
  return readAdaptive({ minimum, maximum, ...more });
}

const invalid = (field: string, why: string) =>
  new RopewalkError({
    code: 'VALIDATION',
    field,
    message: `${field}: ${why}.`,
    hint: 'Send both, or neither to turn adaptive scaling off.',
  });
