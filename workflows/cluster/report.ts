// Answers one agent's report to its cluster.
import { applyReport } from '../../domain/cluster/apply.ts';
import { ordersOf } from '../../domain/cluster/orders.ts';
import type { ClusterState } from '../../domain/cluster/state.ts';
import { headAddress } from '../../domain/cluster/status.ts';
import type { ItemAnswer } from '../../contracts/flush.ts';
import type { ReportAnswer, ReportItem } from '../../contracts/cluster.ts';

export function report(state: ClusterState | null, item: ReportItem): ItemAnswer<ReportAnswer> {
  const verdict = state === null ? 'not yet known' : applyReport(state, item, Date.now());
  if (state === null || verdict === 'not yet known') {
    return { error: { code: 'NOT_YET', message: 'The launch of this instance has not been noted yet.' } };
  }
  if (verdict === 'refused') {
    return { error: { code: 'FORBIDDEN', message: 'This instance is not, or no longer, part of the cluster.' } };
  }
  const stop = state.stopRequested;
  const role = state.instances.find((instance) => instance.id === item.instance)?.role ?? 'worker';
  const orders = ordersOf(state);
  return {
    ok: {
      role,
      clusterName: state.settings.name,
      job: state.settings.job,
      headAddress: headAddress(state),
      stop: stop === null ? null : { code: stop.code, text: stop.text },
      // Only the head instance's agent drains; with the list in every answer, a flush's answer would become too long.
      orders: orders === null || role === 'head' ? orders : { ...orders, drain: [] },
    },
  };
}
