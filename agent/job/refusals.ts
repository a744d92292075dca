// What an exchange says after one was refused: fewer results, until the one that is not accepted goes alone, and without
// that one when it has had its time. Pure. What is given up is only what was told; the task's own file stays on the disk.
import type { ExchangeRequest } from '../../schema/agent.ts';
import type { AgentState, TaskResult } from './exchange-state.ts';

/** With the pauses between them half a minute: what a proxy refuses while it is being mended is not lost. */
const refusalsBeforeDrop = 6;

export function exchangeRefused(
  state: AgentState,
  { results }: Pick<ExchangeRequest, 'results'>,
): { state: AgentState; dropped: TaskResult | null } {
  const refusals = state.refusals + 1;
  const resultsAtOnce = Math.max(1, Math.floor(results.length / 2));
  const [alone, another] = results;
  if (alone === undefined || another !== undefined || refusals < refusalsBeforeDrop) {
    return { state: { ...state, refusals, resultsAtOnce }, dropped: null };
  }
  const unacknowledged = state.unacknowledged.filter(({ lease }) => lease !== alone.lease);
  return { state: { ...state, unacknowledged, refusals: 0, resultsAtOnce }, dropped: alone };
}
