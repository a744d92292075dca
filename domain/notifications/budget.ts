// Notifications of a workspace about a budget that reaches a new level.
import type { Budget } from '../budget/budget.ts';
import type { levelEvent, Standing } from '../budget/standing.ts';
import { dollarsOf } from '../cost/interval.ts';
import type { NewNotification } from './types.ts';

/**
 * Each level is reached once in a period: the caller reads the previous level in the transaction that writes the new one. Clusters and jobs that the
 * action `stop` ends have their own notifications.
 */
export function budgetNotification(
  workspace: string,
  budget: Budget,
  { standing, event }: { standing: Standing; event: NonNullable<ReturnType<typeof levelEvent>> },
): NewNotification {
  const { name, subject, period, micros, warnShare, action } = budget;
  return {
    ...{ workspace, object: `budget/${name}`, text: event.text },
    type: event.code === 'BUDGET_EXCEEDED' ? 'budget.exceeded' : 'budget.warning',
    data: {
      ...{ budget: name, workspace, subject, period, action, dollars: dollarsOf(micros) },
      ...{ spentDollars: dollarsOf(Math.round(standing.micros)), warnAtPercent: Math.round(warnShare * 100) },
    },
  };
}
