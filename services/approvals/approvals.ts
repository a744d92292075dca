// Approvals before spend: rules, requests and decisions.
import {
  maxApprovalTimeoutMs,
  minApprovalTimeoutMs,
  type Approval,
  type ApprovalRule,
} from '../../domain/admission/approval.ts';
import { dollarsOf, microsOf } from '../../domain/cost/interval.ts';
import type {
  Approval as ShownApproval,
  ApprovalPage,
  ApprovalRule as ShownRule,
  DecideApproval,
  ListApprovals,
  PutApprovalRuleParsed,
} from '../../schema/approvals.ts';
import type { ApprovalStore } from '../../store/approval-port.ts';
import { deleteSealed } from '../admission/start.ts';
import { requireScope } from '../auth/scopes.ts';
import { positiveMs } from '../clusters/durations.ts';
import type { Context } from '../context.ts';
import { parseCursor } from '../list-query.ts';
import { byOf, orRefused } from '../people/rules.ts';
import { time, timeOrNull } from '../to-wire.ts';

export async function readApprovalRule({ deps, actor }: Context): Promise<ShownRule> {
  requireScope(actor, 'read');
  return showRule(await deps.store.approvals.rule(actor.workspace));
}

/** @throws RopewalkError VALIDATION, FORBIDDEN */
export async function putApprovalRule({ deps, actor }: Context, input: PutApprovalRuleParsed): Promise<ShownRule> {
  requireScope(actor, 'admin');
  const { dollarsPerHour, dollars, allowOwn, timeout } = input;
  const limits = { minMs: minApprovalTimeoutMs, maxMs: maxApprovalTimeoutMs };
  const rule: ApprovalRule = {
    microsPerHour: dollarsPerHour === null ? null : microsOf(dollarsPerHour),
    totalMicros: dollars === null ? null : microsOf(dollars),
    allowOwn,
    timeoutMs: positiveMs(timeout, 'timeout', limits),
  };
  const isOff = rule.microsPerHour === null && rule.totalMicros === null;
  const change = { rule: isOff ? null : rule, by: byOf(actor) };
  return showRule(orRefused(await deps.store.approvals.setRule(actor.workspace, change, deps.now())));
}

/** Newest first. */
export async function listApprovals(
  { deps, actor }: Context,
  { state, limit, after }: ListApprovals,
): Promise<ApprovalPage> {
  requireScope(actor, 'read');
  const query = { ...(state === undefined ? {} : { states: state }), before: parseCursor(after), limit: limit + 1 };
  const found = await deps.store.approvals.list(actor.workspace, query);
  const items = found.slice(0, limit).map(showApproval);
  return { items, next: found.length > limit ? String(items.at(-1)?.number ?? '') : null };
}

/** The queue moves at once. @throws RopewalkError FORBIDDEN, NOT_FOUND, CONFLICT when it was decided otherwise */
export async function decideApproval(
  { deps, actor }: Context,
  { number, approve, comment }: DecideApproval & { number: number; approve: boolean },
): Promise<ShownApproval> {
  requireScope(actor, 'admin');
  const { workspace } = actor;
  const item = { number, approve, comment: comment ?? null, by: byOf(actor) };
  return showApproval(await carryOutDecision(deps, workspace, item));
}

/** @throws RopewalkError with the store's refusal */
export async function carryOutDecision(
  deps: Pick<Context['deps'], 'store' | 'views' | 'starter' | 'vault' | 'now'>,
  workspace: string,
  item: Parameters<ApprovalStore['decide']>[1],
): Promise<Approval> {
  const { number, approve } = item;
  const { approval, admissionId } = orRefused(await deps.store.approvals.decide(workspace, item, deps.now()));
  deps.views.expire(number);
  if (approve) await deps.starter.begin(number);
  else await deleteSealed(deps.vault, { workspace, admissionId });
  return approval;
}

const dollarsOrNull = (micros: number | null): number | null => (micros === null ? null : dollarsOf(micros));

const showRule = (rule: ApprovalRule | null): ShownRule => ({
  dollarsPerHour: dollarsOrNull(rule?.microsPerHour ?? null),
  dollars: dollarsOrNull(rule?.totalMicros ?? null),
  allowOwn: rule?.allowOwn ?? false,
  timeoutSeconds: rule === null ? null : rule.timeoutMs / 1_000,
});

const showApproval = (approval: Approval): ShownApproval => ({
  ...{ number: approval.number, kind: approval.kind, name: approval.name, user: approval.user },
  ...{ why: approval.why, state: approval.state, comment: approval.comment, decidedBy: approval.decidedBy },
  dollarsPerHour: dollarsOrNull(approval.estimate.microsPerHour),
  dollars: dollarsOrNull(approval.estimate.totalMicros),
  ...{ askedAt: time(approval.askedAtMs), expiresAt: time(approval.expiresAtMs) },
  decidedAt: timeOrNull(approval.decidedAtMs),
});
