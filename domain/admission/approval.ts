// Approval before spend: a job or cluster whose estimated cost is above the threshold of its workspace waits for an admin.
import { spellDollars } from '../budget/dollars.ts';
import type { Problem } from '../errors.ts';
import { authorityOf, needsAdmin, type Caller } from '../people/authority.ts';
import { timeText } from '../why.ts';

/** Set by an admin. A null threshold leaves that cost unchecked. */
export interface ApprovalRule {
  microsPerHour: number | null;
  totalMicros: number | null;
  /** Whether an admin may approve their own requests. */
  allowOwn: boolean;
  /** How long a request waits before it expires. */
  timeoutMs: number;
}

/** The cost of all instances that a job or cluster may have, at the highest price. */
export interface CostEstimate {
  /** Null when the price of one of its instance types is unknown. */
  microsPerHour: number | null;
  /** Null when unknown or unlimited. */
  totalMicros: number | null;
}

export const freeOfCharge: CostEstimate = { microsPerHour: 0, totalMicros: 0 };

export const defaultApprovalTimeoutMs = 24 * 3_600_000;
export const minApprovalTimeoutMs = 60_000;
/** Much shorter than the retention of a job's sealed bundle. */
export const maxApprovalTimeoutMs = 30 * 86_400_000;

export type ApprovalState = 'pending' | 'approved' | 'rejected' | 'expired' | 'withdrawn';

/** A request for approval and its outcome. */
export interface Approval {
  number: number;
  kind: 'job' | 'cluster';
  name: string;
  user: string;
  /** The id of that user, which is never reused. */
  userId: string;
  estimate: CostEstimate;
  /** A sentence. */
  why: string;
  state: ApprovalState;
  askedAtMs: number;
  expiresAtMs: number;
  decidedAtMs: number | null;
  decidedBy: string | null;
  /** The deciding admin's comment. */
  comment: string | null;
}

/** Estimates the cost per hour, and the total until a limit ends the run; null without such a limit. */
export function estimateOf({
  microsPerHour,
  maxMs,
  maxCostMicros,
}: {
  microsPerHour: number | null;
  maxMs: number | null;
  maxCostMicros: number | null;
}): CostEstimate {
  if (microsPerHour === 0) return freeOfCharge;
  const byTime = maxMs === null || microsPerHour === null ? Infinity : (microsPerHour * maxMs) / 3_600_000;
  const total = Math.min(byTime, maxCostMicros ?? Infinity);
  return { microsPerHour, totalMicros: total === Infinity ? null : Math.round(total) };
}

/** Returns a sentence naming the exceeded threshold; null when no approval is needed. */
export function whyApproval(rule: ApprovalRule | null, { microsPerHour, totalMicros }: CostEstimate): string | null {
  if (rule === null || (rule.microsPerHour === null && rule.totalMicros === null)) return null;
  if (rule.microsPerHour !== null) {
    if (microsPerHour === null) return 'The price of one of its instance types is unknown.';
    if (microsPerHour > rule.microsPerHour) {
      return `It costs up to ${spellDollars(microsPerHour)} an hour, more than the ${spellDollars(rule.microsPerHour)} that need no approval.`;
    }
  }
  if (rule.totalMicros === null) return null;
  const threshold = `the ${spellDollars(rule.totalMicros)} that need no approval`;
  if (totalMicros === null) {
    return `Its cost has no limit, and may exceed ${threshold}: it has neither a maxCost nor a time limit with known prices.`;
  }
  return totalMicros > rule.totalMicros
    ? `It costs up to ${spellDollars(totalMicros)} in total, more than ${threshold}.`
    : null;
}

export const waitsForApproval = (why: string, expiresAtMs: number): { code: string; text: string } => ({
  code: 'WAITING_FOR_APPROVAL',
  text: `Waits until ${timeText(expiresAtMs)} for an admin to approve it: ${why}`,
});

export interface Decision {
  approve: boolean;
  comment: string | null;
}

/** `repeat`: the same decision was made before. */
export function decideApproval(
  approval: Approval,
  { caller, rule, approve }: { caller: Caller; rule: ApprovalRule | null; approve: boolean },
  nowMs: number,
): { ok: 'decide' | 'repeat' } | { error: Problem } {
  const refused = needsAdmin(caller, nowMs);
  if (refused !== null) return { error: refused };
  const { state, number, kind } = approval;
  const wanted = approve ? 'approved' : 'rejected';
  if (state === wanted) return { ok: 'repeat' };
  if (state !== 'pending') {
    const message = `The request of ${kind} ${number} is ${state}: it takes no other decision.`;
    return { error: { code: 'CONFLICT', message, hint: 'Create it again, to have it decided again.' } };
  }
  if (approve && approval.expiresAtMs <= nowMs) {
    const message = `The time in which an admin could approve ${kind} ${number} has ended.`;
    return { error: { code: 'CONFLICT', message, hint: 'Create it again.' } };
  }
  return approve && !mayApprove(caller, approval, rule, nowMs) ? { error: ownApproval } : { ok: 'decide' };
}

/**
 * An admin may approve their own requests only where the workspace allows it. A request made with a token that the admin created for another user
 * counts as their own. The operator of the host has no own requests.
 */
function mayApprove(caller: Caller, { userId, user }: Approval, rule: ApprovalRule | null, nowMs: number): boolean {
  const authority = authorityOf(caller, nowMs);
  if ('error' in authority) return false;
  const isOwn = isOwnRequest({ isCreator: caller.user?.id === userId, creator: user }, caller.token?.createdBy);
  return authority.user === null || rule?.allowOwn === true || !isOwn;
}

/** `tokenMadeBy`: name of the user who created the caller's token, for themselves or for another user. */
export const isOwnRequest = (
  { isCreator, creator }: { isCreator: boolean; creator: string },
  tokenMadeBy: string | null | undefined,
): boolean => isCreator || tokenMadeBy === creator;

const ownApproval: Problem = {
  code: 'FORBIDDEN',
  message: 'An admin cannot approve what they created themselves, nor with a token that they made for another user.',
  hint: 'Ask another admin. A workspace can allow it: ropewalk workspace approval --allow-own.',
};

/** Why a job or cluster ended before it started. */
export const rejectedBy = (by: string, comment: string | null): { code: string; text: string } => ({
  code: 'REJECTED',
  text: `Rejected by ${by}${comment === null ? '.' : `: ${comment}`}`,
});

export const approvalExpired = { code: 'APPROVAL_TIMED_OUT', text: 'No admin approved it in time.' };

/** Such a caller's growth requests need no approval, because the caller could approve them. */
export const mayGrow = (
  { allowOwn }: ApprovalRule,
  { isAdmin, isOwn }: { isAdmin: boolean; isOwn: boolean },
): boolean => isAdmin && (!isOwn || allowOwn);

/** Checks the growth of an admitted cluster: an approval covers growth up to the approved cost per hour. Returns null when the growth is allowed. */
export function growthNeedsApproval(
  rule: ApprovalRule | null,
  { estimate, before, approved }: { estimate: CostEstimate; before: CostEstimate; approved: Approval | null },
): Problem | null {
  const why = whyApproval(rule, estimate);
  if (why === null) return null;
  if (isWithin(estimate, before)) return null;
  if (approved?.state === 'approved' && isWithin(estimate, approved.estimate)) return null;
  return {
    code: 'APPROVAL_REQUIRED',
    message: `This size needs the approval of an admin. ${why}`,
    hint: 'Ask an admin to scale the cluster, or create a new one of this size, which waits for approval.',
  };
}

const isWithin = (estimate: CostEstimate, limit: CostEstimate): boolean =>
  estimate.microsPerHour !== null && limit.microsPerHour !== null && estimate.microsPerHour <= limit.microsPerHour;
