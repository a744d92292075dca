// Which workflow that stands still is reset. A reset throws away what was decided since, so every doubt leaves it to an
// operator: only the one fault of Temporal's SDK that is known to be mended by it, and only when the very code that wrote
// the history is the one that cannot follow it. Code that was deployed by mistake, or is still missing, is not that: its
// workflows go on by themselves as soon as the right code is back, and a reset would lose what they did.
//
// The fault (temporalio/sdk-rust 943, 1146): a workflow task is worked off in two steps where a replay has one. An update
// comes in another order then. And when the task was scheduled again, because it had run out of time or its worker had died,
// the first step saw an earlier time than the replay does, and not yet all the signals: it may have decided otherwise.
import { maxResetsADay, standstillAttempts } from '../limits.ts';
import type { HealDecision, Reset, Standstill } from './state.ts';

const violation = '[TMPRL1100] Nondeterminism error: ';

const namesEvent =
  /^(?:[A-Za-z ]+ machine does not handle this event:|No command scheduled for event) HistoryEvent\(id: (\d+),/;

/** The event that the history has where the code has another, or nothing; null when the failure does not say. */
export const eventNamedBy = (message: string): number | null => {
  const id = message.startsWith(violation) ? namesEvent.exec(message.slice(violation.length))?.[1] : undefined;
  return id === undefined ? null : Number(id);
};

export function decideHeal(found: Standstill, resets: readonly Reset[], nowMs: number): HealDecision {
  const { failure, writer, attempt, workflowId } = found;
  // It waits for a worker, or runs out of time: time or a worker mends that.
  if (attempt < standstillAttempts || failure === null) return { do: 'nothing' };
  const told = (why: string): HealDecision => ({ do: 'tell', text: `${why}: ${failure.message}`.slice(0, maxText) });
  // No reset is known to mend it, but people must hear of it: what is too large, say, stays so for ever.
  if (failure.cause !== nondeterminism) return told(`its workflow task fails for another reason (${failure.cause})`);
  if (!failure.message.startsWith(violation)) return told('its code does not follow its history');
  if (writer === null) return told('where its code does not follow its history cannot be told');
  if (!(writer.hasUpdate || writer.isRepeated)) {
    return told('its history has neither an update nor a repeated workflow task where the code does not follow it');
  }
  if (writer.buildId === '' || writer.buildId !== failure.buildId) {
    return told('other code wrote its history than the code that cannot follow it');
  }
  const lately = resets.filter((reset) => reset.workflowId === workflowId && nowMs - reset.atMs < dayMs);
  if (lately.length >= maxResetsADay) return told(`it was reset ${lately.length} times within a day`);
  const text = `a known fault of Temporal's SDK (temporalio/sdk-rust#1146): ${failure.message}`.slice(0, maxText);
  return { do: 'reset', toEventId: writer.completedEventId, text };
}

/** What the next decision must be given. */
export const rememberReset = (resets: readonly Reset[], workflowId: string, nowMs: number): Reset[] => [
  ...resets.filter(({ atMs }) => nowMs - atMs < dayMs),
  { workflowId, atMs: nowMs },
];

const nondeterminism = 'NON_DETERMINISTIC_ERROR';
const maxText = 500;
const dayMs = 24 * 60 * 60_000;
