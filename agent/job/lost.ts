// Handles a job's answer that this instance is lost. Its cluster may not know that yet, and would wait for an idle instance:
// the work stops first, and the agent only after the cluster acknowledged its report.
import { instanceLost } from '../../domain/job/protocol.ts';
import { orderOf } from '../lifecycle/stop-order.ts';
import type { StopOrder } from '../lifecycle/stop-order.ts';

export interface WorkStopping {
  /** Aborts with the agent. Any abort stops the agent too, except the job's answer that the instance is lost. */
  stopping: AbortController;
  /** The job's stop order, when it has stopped the work. */
  lost: () => StopOrder | null;
}

export function createWorkStopping(agent: AbortController): WorkStopping {
  const stopping = new AbortController();
  const lost = (): StopOrder | null => {
    const order = orderOf(stopping.signal);
    return order.code === instanceLost ? order : null;
  };
  if (agent.signal.aborted) stopping.abort(agent.signal.reason);
  else agent.signal.addEventListener('abort', () => stopping.abort(agent.signal.reason), { once: true });
  stopping.signal.addEventListener('abort', () => {
    if (lost() === null) agent.abort(stopping.signal.reason);
  });
  return { stopping, lost };
}
