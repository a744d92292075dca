// Approvals before spend: the rule of each workspace, and the decisions.
import { decideApproval, rejectedBy, type Approval, type ApprovalRule } from '../domain/admission/approval.ts';
import { waitReason } from '../domain/admission/queue.ts';
import { spellDollars } from '../domain/budget/dollars.ts';
import type { Problem } from '../domain/errors.ts';
import { needsAdmin } from '../domain/people/authority.ts';
import { peopleEvent } from '../domain/people/events.ts';
import type { By } from '../domain/people/state.ts';
import { spellDuration } from '../domain/units.ts';
import type { ApprovalStore } from './approval-port.ts';
import { approvalOf, findApproval, readRule, settleApproval } from './approval-rows.ts';
import type { Database } from './database.ts';
import { callerOf, insertEvent, lockWorkspace } from './people-rows.ts';
import { endWaiting } from './queue.ts';
import { waitsOf } from './queue-rows.ts';
import type { Db } from './tables.ts';
import { noWorkspace } from './workspaces.ts';

export function createApprovalStore(database: Database): ApprovalStore {
  const { engine } = database;
  return {
    rule: (workspace) => database.read((db) => readRule(db, workspace)),
    setRule: (workspace, { rule, by }, nowMs) =>
      database.write(async (db) => {
        if ((await lockWorkspace(db, engine, workspace)) === null) return { error: noWorkspace(workspace) };
        const refused = needsAdmin(await callerOf(db, workspace, by), nowMs);
        if (refused !== null) return { error: refused };
        await db.deleteFrom('approval_rules').where('workspace', '=', workspace).execute();
        if (rule !== null) {
          const { microsPerHour, totalMicros, allowOwn, timeoutMs } = rule;
          await db
            .insertInto('approval_rules')
            .values({
              ...{ workspace, micros_per_hour: microsPerHour, total_micros: totalMicros },
              ...{ allow_own: allowOwn ? 1 : 0, timeout_ms: timeoutMs },
            })
            .execute();
        }
        await insertEvent(db, workspace, peopleEvent(by, 'APPROVAL_RULE', textOf(rule), nowMs));
        return { ok: rule };
      }),
    list: async (workspace, { states, before, limit }) => {
      const rows = await database.read((db) =>
        db
          .selectFrom('approvals')
          .selectAll()
          .where('workspace', '=', workspace)
          .$if(states !== undefined, (query) => query.where('state', 'in', [...(states ?? [])]))
          .$if(before !== null, (query) => query.where('number', '<', before ?? 0))
          .orderBy('number', 'desc')
          .limit(limit)
          .execute(),
      );
      return rows.map(approvalOf);
    },
    find: (workspace, number) => database.read((db) => findApproval(db, workspace, number)),
    decide: (workspace, { number, by, approve, comment, webhook }, nowMs) =>
      database.write(async (db) => {
        if ((await lockWorkspace(db, engine, workspace)) === null) return { error: noWorkspace(workspace) };
        const caller = await callerOf(db, workspace, by);
        if (webhook !== undefined && !(await mayAnswer(db, webhook, by))) return { error: mayAnswerNothing };
        const known = await findApproval(db, workspace, number);
        if (known === null) {
          return { error: needsAdmin(caller, nowMs) ?? noApproval(number) };
        }
        const rule = await readRule(db, workspace);
        const decision = decideApproval(known, { caller, rule, approve }, nowMs);
        if ('error' in decision) return decision;
        const admissionId = await admissionOf(db, known);
        if (decision.ok === 'repeat' && webhook !== undefined) return { error: isDecided(known) };
        if (decision.ok === 'repeat') return { ok: { approval: known, admissionId } };
        const through = webhook === undefined ? '' : ` by webhook ${webhook}`;
        const decidedBy = `${by?.user ?? 'the operator'}${through}`;
        const isMoved = approve
          ? await approveEntry(db, number)
          : await endWaiting(db, engine, {
              ...{ number, nowMs, refusal: JSON.stringify(rejectedBy(decidedBy, comment)) },
              settle: { state: 'rejected', by: decidedBy, comment },
            });
        if (!isMoved)
          return { error: { code: 'CONFLICT', message: `The ${known.kind} ${number} has ended meanwhile.` } };
        if (approve) await settleApproval(db, { number, state: 'approved', by: decidedBy, comment, nowMs });
        const text = `${known.kind} ${number} (${known.name}) of ${known.user}${through}: ${known.why}`;
        await insertEvent(db, workspace, peopleEvent(by, approve ? 'APPROVED' : 'REJECTED', text, nowMs));
        return { ok: { approval: (await findApproval(db, workspace, number)) ?? known, admissionId } };
      }),
  };
}

/** Whether the webhook exists, is enabled, and was created with this token. */
async function mayAnswer(db: Db, webhook: string, by: By): Promise<boolean> {
  const row = await db
    .selectFrom('webhooks')
    .select('id')
    .where('id', '=', webhook)
    .where('disabled_at_ms', 'is', null)
    .where('approver_token', '=', by?.tokenId ?? '')
    .executeTakeFirst();
  return row !== undefined;
}

const mayAnswerNothing: Problem = { code: 'FORBIDDEN', message: 'This webhook answers no request for approval.' };

const isDecided = ({ kind, number, state }: Approval): Problem => ({
  code: 'CONFLICT',
  message: `The request of ${kind} ${number} is ${state}: an answer counts once.`,
});

const noApproval = (number: number): Problem => ({
  code: 'NOT_FOUND',
  message: `Nothing with the number ${number} has asked for an approval.`,
});

async function admissionOf(db: Db, { kind, number }: { kind: 'job' | 'cluster'; number: number }): Promise<string> {
  const row = await db
    .selectFrom('records')
    .select('admission_id')
    .where('kind', '=', kind)
    .where('number', '=', number)
    .executeTakeFirstOrThrow();
  return row.admission_id;
}

/** Clears the wait for the approval; other waits stay. False when it has left the queue. */
async function approveEntry(db: Db, number: number): Promise<boolean> {
  const entry = await db
    .updateTable('queue_entries')
    .set({ awaits_approval: 0 })
    .where('number', '=', number)
    .returning(['kind', 'hold'])
    .executeTakeFirst();
  if (entry === undefined) return false;
  const waits = await waitsOf(db, number);
  if (waits.length === 0)
    await db.updateTable('queue_entries').set({ is_ready: 1 }).where('number', '=', number).execute();
  await db
    .updateTable('records')
    .set({ refusal: JSON.stringify(waitReason(waits)) })
    .where('kind', '=', entry.kind)
    .where('number', '=', number)
    .where('state', '=', 'waiting')
    .execute();
  return true;
}

function textOf(rule: ApprovalRule | null): string {
  if (rule === null) return 'nothing needs an approval';
  const { microsPerHour, totalMicros, allowOwn, timeoutMs } = rule;
  const above = [
    ...(microsPerHour === null ? [] : [`${spellDollars(microsPerHour)} an hour`]),
    ...(totalMicros === null ? [] : [`${spellDollars(totalMicros)} in total`]),
  ];
  return `above ${above.join(' or ')}, within ${spellDuration(timeoutMs)}${allowOwn ? '; admins may approve their own' : ''}`;
}
