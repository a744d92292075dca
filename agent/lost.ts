// A job that has given its instance up says so when the agent next speaks. Its cluster may know nothing of that, and would
// wait for an instance that does no work: so the work stops first, and the agent only once the cluster has heard.

export interface LostOrder {
  code: string;
  text: string;
}

export interface WorkStopping {
  /** Aborted with the agent. Whatever aborts it stops the agent too, except the job's word that the instance is lost. */
  stopping: AbortController;
  /** What the job said, when that has stopped the work. */
  lost: () => LostOrder | null;
}

export function createWorkStopping(agent: AbortController): WorkStopping {
  const stopping = new AbortController();
  const lost = (): LostOrder | null => lostOrder(stopping.signal.reason);
  if (agent.signal.aborted) stopping.abort(agent.signal.reason);
  else agent.signal.addEventListener('abort', () => stopping.abort(agent.signal.reason), { once: true });
  stopping.signal.addEventListener('abort', () => {
    if (lost() === null) agent.abort(stopping.signal.reason);
  });
  return { stopping, lost };
}

function lostOrder(reason: unknown): LostOrder | null {
  if (typeof reason !== 'object' || reason === null || !('code' in reason && 'text' in reason)) return null;
  return reason.code === 'INSTANCE_LOST' ? { code: reason.code, text: String(reason.text) } : null;
}
