// Rows of approvals: written with the admission that needs one, settled with the queue entry.
import type { Approval, ApprovalRule, ApprovalState } from '../domain/admission/approval.ts';
import type { BatchOutcome } from '../domain/admission/batch.ts';
import { approvalNotification } from '../domain/notifications/approval.ts';
import { insertNotification } from './notification-rows.ts';
import type { AdmitItem } from './admission-port.ts';
import type { ApprovalTable } from './queue-tables.ts';
import type { Db } from './tables.ts';
import { storable } from './text.ts';

export async function readRule(db: Db, workspace: string): Promise<ApprovalRule | null> {
  const row = await db.selectFrom('approval_rules').selectAll().where('workspace', '=', workspace).executeTakeFirst();
  if (row === undefined) return null;
  const { micros_per_hour: microsPerHour, total_micros: totalMicros } = row;
  return { microsPerHour, totalMicros, allowOwn: row.allow_own === 1, timeoutMs: row.timeout_ms };
}

/** Must run in the transaction of the admission. */
export async function writeApprovals(db: Db, workspace: string, made: BatchOutcome<AdmitItem>['made']): Promise<void> {
  for (const { number, name, item, nowMs, entry } of made) {
    if (entry === null || entry.approval === null) continue;
    const { kind, user, estimate } = item;
    const creator = await db
      .selectFrom('users')
      .select('id')
      .where('workspace', '=', workspace)
      .where('name', '=', user)
      .executeTakeFirst();
    const approval: Approval = {
      ...{ number, kind, name, user, userId: creator?.id ?? '', estimate, ...entry.approval },
      ...{ state: 'pending', askedAtMs: nowMs, decidedAtMs: null, decidedBy: null, comment: null },
    };
    await db.insertInto('approvals').values(rowOf(workspace, approval)).execute();
    await insertNotification(db, approvalNotification(workspace, approval), nowMs);
  }
}

export async function findApproval(db: Db, workspace: string, number: number): Promise<Approval | null> {
  const row = await db
    .selectFrom('approvals')
    .selectAll()
    .where('workspace', '=', workspace)
    .where('number', '=', number)
    .executeTakeFirst();
  return row === undefined ? null : approvalOf(row);
}

/** Settles only a pending approval. Null when it was settled before, or does not exist. */
export async function settleApproval(
  db: Db,
  {
    number,
    state,
    by,
    comment,
    nowMs,
  }: { number: number; state: ApprovalState; by: string | null; comment: string | null; nowMs: number },
): Promise<Approval | null> {
  const row = await db
    .updateTable('approvals')
    .set({ state, decided_at_ms: nowMs, decided_by: by, comment: comment === null ? null : storable(comment) })
    .where('number', '=', number)
    .where('state', '=', 'pending')
    .returningAll()
    .executeTakeFirst();
  if (row === undefined) return null;
  const approval = approvalOf(row);
  // The end of a withdrawn request has its own notification.
  if (state !== 'withdrawn') await insertNotification(db, approvalNotification(row.workspace, approval), nowMs);
  return approval;
}

export const approvalOf = (row: ApprovalTable): Approval => ({
  ...{ number: row.number, kind: row.kind, name: row.name, user: row.user_name, userId: row.user_id },
  estimate: { microsPerHour: row.micros_per_hour, totalMicros: row.total_micros },
  ...{ why: row.why, state: row.state, askedAtMs: row.asked_at_ms, expiresAtMs: row.expires_at_ms },
  ...{ decidedAtMs: row.decided_at_ms, decidedBy: row.decided_by, comment: row.comment },
});

const rowOf = (workspace: string, approval: Approval): ApprovalTable => ({
  ...{ workspace, number: approval.number, kind: approval.kind, name: approval.name },
  ...{ user_name: approval.user, user_id: approval.userId, why: approval.why, state: approval.state },
  micros_per_hour: approval.estimate.microsPerHour,
  total_micros: approval.estimate.totalMicros,
  ...{ asked_at_ms: approval.askedAtMs, expires_at_ms: approval.expiresAtMs },
  ...{ decided_at_ms: null, decided_by: null, comment: null },
});
