// Notifications of a workspace about requested approvals and their decisions.
import type { Approval } from '../admission/approval.ts';
import { dollarsOf } from '../cost/interval.ts';
import type { NewNotification, NotificationType } from './types.ts';

/** For an approval in any state except `withdrawn`. */
export function approvalNotification(workspace: string, approval: Approval): NewNotification {
  const { number, kind, name, user, estimate, state, why, expiresAtMs, decidedBy, comment } = approval;
  const what = `${kind === 'job' ? 'Job' : 'Cluster'} ${number} (${name}) of ${user}`;
  const [type, text] = messages[state === 'withdrawn' ? 'expired' : state];
  const dollars = (micros: number | null): number | null => (micros === null ? null : dollarsOf(micros));
  return {
    ...{ workspace, type, object: `${kind}/${number}` },
    text:
      state === 'pending'
        ? `${what} ${text}: ${why} ropewalk approve ${number}`
        : `${what} ${text}${byWhom(approval)}.`,
    data: {
      ...{ [kind]: number, name, workspace, user, why, decidedBy, comment },
      ...{ dollarsPerHour: dollars(estimate.microsPerHour), dollars: dollars(estimate.totalMicros) },
      expiresAt: new Date(expiresAtMs).toISOString(),
    },
    once: `approval/${number} ${state}`,
  };
}

const byWhom = ({ decidedBy }: Approval): string => (decidedBy === null ? '' : ` by ${decidedBy}`);

const messages: Record<'pending' | 'approved' | 'rejected' | 'expired', [NotificationType, string]> = {
  pending: ['approval.requested', 'waits for an approval'],
  approved: ['approval.approved', 'was approved'],
  rejected: ['approval.rejected', 'was rejected'],
  expired: ['approval.expired', 'was approved by no admin in time'],
};
