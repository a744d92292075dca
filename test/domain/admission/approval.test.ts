// The costs that need an approval, the right to approve, and the growth that an approval covers.
import { describe, expect, it } from 'vitest';

import {
  decideApproval,
  estimateOf,
  freeOfCharge,
  growthNeedsApproval,
  whyApproval,
  type Approval,
  type ApprovalRule,
} from '../../../domain/admission/approval.ts';
import type { Caller } from '../../../domain/people/authority.ts';

const dollars = (amount: number): number => amount * 1e6;
const rule: ApprovalRule = { microsPerHour: dollars(5), totalMicros: dollars(50), allowOwn: false, timeoutMs: 60_000 };
const perHourOnly = { ...rule, totalMicros: null };
const hourMs = 3_600_000;

describe('the cost that needs an approval', () => {
  it('is more than a threshold, an hour or in total', () => {
    const at = (microsPerHour: number, maxMs: number | null, maxCostMicros: number | null = null) =>
      whyApproval(rule, estimateOf({ microsPerHour, maxMs, maxCostMicros }));
    expect(at(dollars(5), 10 * hourMs)).toBeNull();
    expect(at(dollars(5) + 1, hourMs)).toContain('an hour');
    expect(at(dollars(5), 11 * hourMs)).toBe(
      'It costs up to $55.00 in total, more than the $50.00 that need no approval.',
    );
    expect(at(dollars(5), 11 * hourMs, dollars(50))).toBeNull();
    expect(at(dollars(1), null)).toContain('no limit');
    expect(at(dollars(1), null, dollars(2))).toBeNull();
  });

  it('is needed for an unknown price, and never for what costs nothing', () => {
    const unknown = estimateOf({ microsPerHour: null, maxMs: hourMs, maxCostMicros: dollars(1) });
    expect(whyApproval(perHourOnly, unknown)).toBe('The price of one of its instance types is unknown.');
    expect(whyApproval({ ...rule, microsPerHour: null }, unknown)).toBeNull();
    expect(estimateOf({ microsPerHour: 0, maxMs: null, maxCostMicros: null })).toEqual(freeOfCharge);
    expect(whyApproval({ ...rule, microsPerHour: 0, totalMicros: 0 }, freeOfCharge)).toBeNull();
    expect(whyApproval(null, unknown)).toBeNull();
  });
});

const approval: Approval = {
  ...{
    number: 7,
    kind: 'cluster',
    name: 'big',
    user: 'ada',
    userId: 'u_ada',
    estimate: freeOfCharge,
    why: 'It costs.',
  },
  ...{ state: 'pending', askedAtMs: 0, expiresAtMs: 100, decidedAtMs: null, decidedBy: null, comment: null },
};

const caller = (user: string, role: 'admin' | 'member' = 'admin'): Caller => {
  const id = `u_${user}`;
  return {
    ...{ slug: 'default', by: { user, tokenId: 't' } },
    user: { id, name: user, role, limits: {}, createdAtMs: 0 },
    token: {
      ...{ id: 't', secretHash: '', user, userId: id, scopes: ['read', 'write', 'admin'], name: '' },
      ...{ createdAtMs: 0, createdBy: null, expiresAtMs: null, revokedAtMs: null },
    },
  };
};

describe('a decision', () => {
  const decide = (given: Partial<Approval>, who: Caller, approve = true, by = rule, nowMs = 50) => {
    const answer = decideApproval({ ...approval, ...given }, { caller: who, rule: by, approve }, nowMs);
    return 'ok' in answer ? answer.ok : answer.error.code;
  };

  it("is another admin's, or the creator's where the workspace allows it", () => {
    expect(decide({}, caller('bob'))).toBe('decide');
    expect(decide({}, caller('bob', 'member'))).toBe('FORBIDDEN');
    expect(decide({}, caller('ada'))).toBe('FORBIDDEN');
    expect(decide({}, caller('ada'), true, { ...rule, allowOwn: true })).toBe('decide');
    // Its creator may always withdraw it.
    expect(decide({}, caller('ada'), false)).toBe('decide');
    // A user of the same name is another user.
    expect(decide({ userId: 'u_earlier' }, caller('ada'))).toBe('decide');
    expect(decide({}, { slug: 'default', by: null, token: null, user: null })).toBe('decide');
  });

  it('is made once, in time', () => {
    expect(decide({ state: 'approved' }, caller('bob'))).toBe('repeat');
    expect(decide({ state: 'approved' }, caller('bob'), false)).toBe('CONFLICT');
    for (const state of ['rejected', 'expired', 'withdrawn'] as const) {
      expect(decide({ state }, caller('bob'))).toBe('CONFLICT');
    }
    expect(decide({}, caller('bob'), true, rule, 100)).toBe('CONFLICT');
  });
});

it('growth is covered by what was approved and by what there is, at the same cost an hour', () => {
  const at = (amount: number) => estimateOf({ microsPerHour: dollars(amount), maxMs: null, maxCostMicros: null });
  const needs = (amount: number, given: Partial<Parameters<typeof growthNeedsApproval>[1]> = {}, by = perHourOnly) =>
    growthNeedsApproval(by, { estimate: at(amount), before: at(1), approved: null, ...given })?.code ?? null;
  expect([needs(5), needs(6)]).toEqual([null, 'APPROVAL_REQUIRED']);
  expect(needs(6, { before: at(6) })).toBeNull();
  const approved: Approval = { ...approval, state: 'approved', estimate: at(20) };
  expect([needs(20, { approved }), needs(21, { approved })]).toEqual([null, 'APPROVAL_REQUIRED']);
  expect(needs(20, { approved: { ...approved, state: 'rejected' } })).toBe('APPROVAL_REQUIRED');
  const unknown = { microsPerHour: null, totalMicros: null };
  expect(needs(1, { estimate: unknown, before: unknown, approved })).toBe('APPROVAL_REQUIRED');
});
