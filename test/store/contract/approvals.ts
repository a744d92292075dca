// Requests that wait for an approval: decided once by any process, ended in time, withdrawn by their end.
import { describe, expect, it } from 'vitest';

import type { ApprovalRule } from '../../../domain/admission/approval.ts';
import type { RecordKind } from '../../../store/admission-port.ts';
import type { Store } from '../../../store/store.ts';
import { addWorkspace, aJobView, anItem, codeOf, opened, startMs, valueOf, type Backend } from '../fixtures.ts';
import { useStores } from './opened.ts';

const rule: ApprovalRule = { microsPerHour: 5e6, totalMicros: null, allowOwn: true, timeoutMs: 60_000 };
const dear = { microsPerHour: 6e6, totalMicros: null };

export function describeApprovals(backend: Backend): void {
  describe('approvals', () => {
    const stores = useStores(backend);

    const asked = async (store: Store, slug: string, kind: RecordKind, over: Parameters<typeof anItem>[1] = {}) => {
      valueOf(await store.approvals.setRule(slug, { rule, by: null }, startMs));
      const item = anItem(slug, { kind, estimate: dear, name: `${kind}-to-approve`, ...over });
      return { item, ...valueOf(await store.admissions.admit(item, startMs)) };
    };
    const recordOf = (store: Store, slug: string, kind: RecordKind, number: number) =>
      (kind === 'job' ? store.jobs : store.clusters).find(slug, number);
    const decide = (store: Store, slug: string, number: number, approve: boolean) =>
      store.approvals.decide(slug, { number, approve, comment: null, by: null }, startMs + 1);

    it.each(['job', 'cluster'] as const)(
      'a %s waits, takes no quota, and starts once when it is approved',
      async (kind) => {
        const { store, other } = stores();
        const { slug } = await addWorkspace(store);
        const { item, number, needsApproval } = await asked(store, slug, kind);
        expect(needsApproval).toContain('$6.00 an hour');
        expect(await recordOf(other, slug, kind, number)).toMatchObject({
          ...{ state: 'waiting', status: 'waiting', refusal: { code: 'WAITING_FOR_APPROVAL' } },
        });
        expect((await store.workspaces.usage(slug)).total.running).toBe(0);
        // The same request again, and one of the same name, create no second one.
        expect(valueOf(await other.admissions.admit(item, startMs)).number).toBe(number);
        expect(codeOf(await other.admissions.admit(anItem(slug, { kind, name: item.name }), startMs))).toBe(
          'NAME_TAKEN',
        );
        expect((await other.admissions.admitWaiting(startMs)).admitted).toBe(0);
        const answers = await Promise.all([store, other].map((each) => decide(each, slug, number, true)));
        expect(answers.map((answer) => valueOf(answer).approval.state)).toEqual(['approved', 'approved']);
        const moved = await Promise.all([store, other].map((each) => each.admissions.admitWaiting(startMs)));
        expect(moved.reduce((sum, each) => sum + each.admitted, 0)).toBe(1);
        const row = await recordOf(store, slug, kind, number);
        expect(row).toMatchObject({ state: 'admitted', status: 'pending', refusal: null });
        expect((await store.workspaces.usage(slug)).total.running).toBe(1);
        expect(codeOf(await decide(other, slug, number, false))).toBe('CONFLICT');
        const notified = await store.notifications.list(slug, { before: null, limit: 10 });
        expect(notified.map(({ type }) => type)).toEqual(['approval.approved', 'approval.requested']);
      },
    );

    it.each(['job', 'cluster'] as const)(
      'a %s that is rejected, not approved in time, or ended, never starts',
      async (kind) => {
        const { store, other } = stores();
        const { slug } = await addWorkspace(store);
        const end = { state: 'ended', status: kind === 'job' ? 'cancelled' : 'stopped' };
        const rejected = await asked(store, slug, kind);
        const { admissionId } = valueOf(await decide(other, slug, rejected.number, false));
        expect(admissionId).toBe(rejected.item.admissionId);
        expect(await recordOf(store, slug, kind, rejected.number)).toMatchObject({
          ...end,
          refusal: { code: 'REJECTED' },
        });
        // Its name is free.
        const late = await asked(store, slug, kind);
        expect((await other.admissions.admitWaiting(startMs + 59_999)).ended).toEqual([]);
        const ends = await Promise.all([store, other].map((each) => each.admissions.admitWaiting(startMs + 60_000)));
        expect(ends.flatMap(({ ended }) => ended)).toEqual([
          { workspace: slug, admissionId: late.item.admissionId, isRetriable: false },
        ]);
        expect(await recordOf(store, slug, kind, late.number)).toMatchObject({
          ...end,
          refusal: { code: 'APPROVAL_TIMED_OUT' },
        });
        const gone = await asked(store, slug, kind);
        expect(await other.admissions.cancelWaiting(gone.number, { code: 'CANCELLED', text: 'x' }, startMs)).toBe(true);
        expect(codeOf(await decide(store, slug, gone.number, true))).toBe('CONFLICT');
        expect((await other.admissions.admitWaiting(startMs + 60_000)).admitted).toBe(0);
        const states = (await store.approvals.list(slug, { before: null, limit: 10 })).map(({ state }) => state);
        expect(states).toEqual(['withdrawn', 'expired', 'rejected']);
        expect(await store.approvals.list(slug, { states: ['pending'], before: null, limit: 10 })).toEqual([]);
      },
    );

    it('comes before the wait for other jobs, and before the end of one that cannot succeed', async () => {
      const { store, other } = stores();
      const { slug } = await addWorkspace(store);
      const { number: awaited } = await opened(store, slug);
      const queue = { priority: 0, after: [{ number: awaited, needsSuccess: false }] };
      const { number } = await asked(store, slug, 'job', { queue });
      const reason = async () => (await other.jobs.find(slug, number))?.refusal?.code;
      expect(await reason()).toBe('WAITING_FOR_APPROVAL');
      valueOf(await decide(store, slug, number, true));
      expect(await reason()).toBe('WAITING_FOR_JOBS');
      expect((await store.admissions.admitWaiting(startMs)).admitted).toBe(0);
      const second = await asked(store, slug, 'job', { queue, name: 'second' });
      const view = aJobView(slug, awaited, { status: 'done', endedAtMs: startMs });
      await other.jobs.end({ view, version: 9, release: true, nowMs: startMs });
      // The awaited job has ended: the approval is still pending.
      expect((await store.admissions.admitWaiting(startMs)).admitted).toBe(1);
      expect((await other.jobs.find(slug, second.number))?.refusal?.code).toBe('WAITING_FOR_APPROVAL');
      valueOf(await decide(store, slug, second.number, true));
      expect((await store.admissions.admitWaiting(startMs)).admitted).toBe(1);
    });

    it('is of its workspace, and its rule is an admin’s to change', async () => {
      const { store } = stores();
      const { slug, admin } = await addWorkspace(store);
      const { slug: elsewhere, admin: stranger } = await addWorkspace(store);
      const { number } = await asked(store, slug, 'cluster');
      expect(codeOf(await decide(store, elsewhere, number, true))).toBe('NOT_FOUND');
      const item = { number, approve: true, comment: null };
      expect(codeOf(await store.approvals.decide(slug, { ...item, by: stranger }, startMs))).toBe('UNAUTHENTICATED');
      expect(codeOf(await store.approvals.setRule(slug, { rule: null, by: stranger }, startMs))).toBe(
        'UNAUTHENTICATED',
      );
      valueOf(await store.approvals.setRule(slug, { rule: { ...rule, allowOwn: false }, by: admin }, startMs));
      // `ada` has created it.
      expect(codeOf(await store.approvals.decide(slug, { ...item, by: admin }, startMs))).toBe('FORBIDDEN');
      expect(await store.approvals.rule(slug)).toEqual({ ...rule, allowOwn: false });
      valueOf(await store.approvals.setRule(slug, { rule: null, by: admin }, startMs));
      expect([await store.approvals.rule(slug), await store.approvals.rule(elsewhere)]).toEqual([null, null]);
    });
  });
}
