// A job that has given its instance up says so when the agent next speaks. Its cluster may know nothing of that, and would
// wait for an instance that does no work: so the work stops first, and the agent only once the cluster has heard.
import { instanceLost } from '../../domain/job/protocol.ts';
import { orderOf } from '../lifecycle/stop-order.ts';
import type { StopOrder } from '../lifecycle/stop-order.ts';

export interface WorkStopping {
  /** Aborted with the agent. Whatever aborts it stops the agent too, except the job's word that the instance is lost. */
  stopping: AbortController;
  /** What the job said, when that has stopped the work. */
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
