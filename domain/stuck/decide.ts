// Decides which stuck workflow is reset. A reset discards later decisions, so uncertain cases are left to an operator: only the one known fault of
// Temporal's SDK causes a reset, and only when the code that cannot follow the history is the code that wrote it. Wrongly deployed or missing code is
// another case: its workflows continue as soon as the right code is deployed.
//
// The fault (temporalio/sdk-rust 943, 1146): the SDK runs a workflow task in two steps where a replay has one, so an update is applied in another
// order. And when the task was rescheduled, after a timeout or the death of its worker, the first step saw an earlier time than the replay, and not
// yet all signals, so it may have made other decisions.
import { maxResetsADay, slowAttempts, stuckAttempts } from './limits.ts';
import type { Reset, StuckDecision, StuckObservation } from './state.ts';

const violation = '[TMPRL1100] Nondeterminism error: ';

const namesEvent =
  /^(?:[A-Za-z ]+ machine does not handle this event:|No command scheduled for event) HistoryEvent\(id: (\d+),/;

/** The event of the history at which the code issues another command or none; null when the failure does not name it. */
export const eventNamedBy = (message: string): number | null => {
  const id = message.startsWith(violation) ? namesEvent.exec(message.slice(violation.length))?.[1] : undefined;
  return id === undefined ? null : Number(id);
};

export function decideStuck(found: StuckObservation, resets: readonly Reset[], nowMs: number): StuckDecision {
  const { failure, writer, attempt, workflowId } = found;
  if (attempt < stuckAttempts) return { do: 'nothing' };
  if (failure === null) return attempt < slowAttempts ? { do: 'nothing' } : { do: 'report', text: slowText(attempt) };
  const report = (why: string): StuckDecision => ({
    do: 'report',
    text: `${why}: ${failure.message}`.slice(0, maxText),
  });
  // A reset would not help, but an operator must be notified: for example, a payload that is too large stays too large.
  if (failure.cause !== nondeterminism) return report(`its workflow task fails for another reason (${failure.cause})`);
  if (!failure.message.startsWith(violation)) return report('its code does not follow its history');
  if (writer === null) return report('where its code does not follow its history is unknown');
  if (!(writer.hasUpdate || writer.isRepeated)) {
    return report('its history has neither an update nor a repeated workflow task where the code does not follow it');
  }
  if (writer.buildId === '' || writer.buildId !== failure.buildId) {
    return report('other code wrote its history than the code that cannot follow it');
  }
  const lately = resets.filter((reset) => reset.workflowId === workflowId && nowMs - reset.atMs < dayMs);
  if (lately.length >= maxResetsADay) return report(`it was reset ${lately.length} times within a day`);
  const text = `a known fault of Temporal's SDK (temporalio/sdk-rust#1146): ${failure.message}`.slice(0, maxText);
  return { do: 'reset', toEventId: writer.completedEventId, text };
}

const slowText = (attempt: number): string =>
  `its workflow task is at attempt ${attempt} without a failure: Temporal workers are too slow for it, hang or die with it`;

/** Returns the resets to remember for the next decision. */
export const rememberReset = (resets: readonly Reset[], workflowId: string, nowMs: number): Reset[] => [
  ...resets.filter(({ atMs }) => nowMs - atMs < dayMs),
  { workflowId, atMs: nowMs },
];

const nondeterminism = 'NON_DETERMINISTIC_ERROR';
const maxText = 500;
const dayMs = 24 * 60 * 60_000;
