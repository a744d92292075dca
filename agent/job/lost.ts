// Stops the work of an instance that its cluster must learn of: the job's answer that the instance is lost, or the end of a sidecar. The cluster
// would wait for an idle instance, so the agent stops only after the cluster acknowledged its report.
import { instanceLost } from '../../domain/job/protocol.ts';
import { orderOf } from '../lifecycle/stop-order.ts';
import type { StopOrder } from '../lifecycle/stop-order.ts';

/** Code of the abort after which an instance without one of its sidecars leaves. */
export const sidecarEnded = 'SIDECAR_ENDED';

export interface WorkStopping {
  /** Aborts with the agent. Any abort stops the agent too, except those that the cluster must learn of. */
  stopping: AbortController;
  /** The reason for the cluster, when such an abort has stopped the work. */
  lost: () => StopOrder | null;
}

export function createWorkStopping(agent: AbortController): WorkStopping {
  const stopping = new AbortController();
  const lost = (): StopOrder | null => {
    const order = orderOf(stopping.signal);
    return order.code === instanceLost || order.code === sidecarEnded ? order : null;
  };
  if (agent.signal.aborted) stopping.abort(agent.signal.reason);
  else agent.signal.addEventListener('abort', () => stopping.abort(agent.signal.reason), { once: true });
  stopping.signal.addEventListener('abort', () => {
    if (lost() === null) agent.abort(stopping.signal.reason);
  });
  return { stopping, lost };
}
