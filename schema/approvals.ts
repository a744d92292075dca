// Approvals before spend over HTTP.
//
// GET  /v1/workspace/approval          -> approvalRule
// PUT  /v1/workspace/approval          putApprovalRule -> approvalRule; admin
// GET  /v1/approvals                   -> approvalPage, newest first
// POST /v1/approvals/{number}/approve  decideApproval -> approval; admin
// POST /v1/approvals/{number}/reject   decideApproval -> approval; admin
import { z } from 'zod';

import { durationInput, listOf } from './common.ts';

const dollars = z.number().min(0).max(1_000_000_000).nullable();

/** Replaces the rule. Without both thresholds, nothing needs an approval. */
export const putApprovalRule = z.strictObject({
  /** A job or cluster that may cost more per hour waits for an admin. */
  dollarsPerHour: dollars.default(null),
  /** A job or cluster that may cost more in total, or has no cost limit, waits for an admin. */
  dollars: dollars.default(null),
  /** Whether admins may approve their own requests. */
  allowOwn: z.boolean().default(false),
  /** An unapproved request ends after this time; from a minute to 30 days. */
  timeout: durationInput.default('24h'),
});
export type PutApprovalRule = z.input<typeof putApprovalRule>;
export type PutApprovalRuleParsed = z.output<typeof putApprovalRule>;

export const approvalRule = z.object({
  dollarsPerHour: z.number().nullable(),
  dollars: z.number().nullable(),
  allowOwn: z.boolean(),
  /** Null while nothing needs an approval. */
  timeoutSeconds: z.number().nullable(),
});
export type ApprovalRule = z.infer<typeof approvalRule>;

export const approvalState = z.enum(['pending', 'approved', 'rejected', 'expired', 'withdrawn']);

export const listApprovals = z.strictObject({
  state: listOf(approvalState).optional(),
  limit: z.coerce.number().int().min(1).max(1_000).default(100),
  after: z.string().max(20).optional(),
});
export type ListApprovals = z.output<typeof listApprovals>;

export const approval = z.object({
  /** Number of the job or cluster. */
  number: z.number().int(),
  kind: z.enum(['job', 'cluster']),
  name: z.string(),
  user: z.string(),
  why: z.string(),
  /** Maximum; null when a price is unknown. */
  dollarsPerHour: z.number().nullable(),
  /** Maximum; null when unlimited. */
  dollars: z.number().nullable(),
  state: approvalState,
  askedAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  decidedAt: z.iso.datetime().nullable(),
  decidedBy: z.string().nullable(),
  comment: z.string().nullable(),
});
export type Approval = z.infer<typeof approval>;

export const approvalPage = z.object({ items: z.array(approval), next: z.string().nullable() });
export type ApprovalPage = z.infer<typeof approvalPage>;

export const decideApproval = z.strictObject({
  /** Shown with the decision. */
  comment: z.string().min(1).max(500).optional(),
});
export type DecideApproval = z.output<typeof decideApproval>;
