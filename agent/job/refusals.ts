// Shrinks an exchange that was refused for its content: fewer results, until each is sent alone. A result that the API itself
// refuses alone is dropped after a while. Pure. Only the report is dropped; the task's log stays on the disk.
import type { ExchangeRequest } from '../../schema/agent.ts';
import type { AgentState, TaskResult } from './exchange-state.ts';

/** About half a minute including pauses: a short misconfiguration costs no result. */
const refusalsBeforeDrop = 6;

/** `isOurs` is false when a proxy may have refused it. */
export function exchangeRefused(
  state: AgentState,
  { results }: Pick<ExchangeRequest, 'results'>,
  isOurs: boolean,
): { state: AgentState; dropped: TaskResult | null } {
  const refusals = state.refusals + 1;
  const resultsAtOnce = Math.max(1, Math.floor(results.length / 2));
  const [alone, another] = results;
  if (alone === undefined || another !== undefined || refusals < refusalsBeforeDrop) {
    return { state: { ...state, refusals, resultsAtOnce }, dropped: null };
  }
  const others = state.unacknowledged.filter(({ lease }) => lease !== alone.lease);
  // A proxy may refuse one result for its content: it is kept, but must not block the others.
  const unacknowledged = isOurs ? others : [...others, alone];
  return { state: { ...state, unacknowledged, refusals: 0, resultsAtOnce }, dropped: isOurs ? alone : null };
}
