// The decision for an open row, given the workflows of its number.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import type { WorkflowPresence } from '../../../domain/presence.ts';
import { decideRow, type ObservedRecord, type RowDecision } from '../../../domain/reconcile/decide.ts';

const graceMs = 60_000;
const nowMs = 1_000_000;

/** Optionally with a workflow that has been missing for long. */
const decide = (row: Partial<ObservedRecord>): RowDecision =>
  decideRow({ kind: 'job', job: 'open', cluster: 'open', missingSinceMs: nowMs - graceMs, ...row }, graceMs, nowMs);

const finalize = (release: boolean, stopCluster: boolean) => ({ do: 'finalize', release, stopCluster });
const missing = ['closed', 'not found'] as const;

describe('the row of a job', () => {
  it.each(missing)('is finalized and releases everything when both workflows are missing: %s', (job) => {
    for (const cluster of missing) expect(decide({ job, cluster })).toEqual(finalize(true, false));
  });

  it.each(missing)('is finalized, and its cluster stopped, when only the job is missing: %s', (job) => {
    expect(decide({ job })).toEqual(finalize(false, true));
  });

  it('has its job cancelled when only the cluster has ended', () => {
    expect(decide({ cluster: 'closed' })).toEqual({ do: 'cancel job' });
  });

  it('is kept when the job has not started its cluster yet', () => {
    expect(decide({ cluster: 'not found', missingSinceMs: null })).toEqual({ do: 'keep' });
  });
});

describe('the row of a cluster', () => {
  it.each(missing)('is finalized and releases everything when the workflow is missing: %s', (cluster) => {
    for (const job of [null, ...missing]) {
      expect(decide({ kind: 'cluster', job, cluster })).toEqual(finalize(true, false));
    }
  });

  it('waits for its job to end, which is cancelled', () => {
    expect(decide({ kind: 'cluster', cluster: 'not found' })).toEqual({ do: 'cancel job' });
  });

  it('is kept while it ends after its job', () => {
    expect(decide({ kind: 'cluster', job: 'closed', cluster: 'open', missingSinceMs: null })).toEqual({ do: 'keep' });
  });
});

describe('any row', () => {
  const presence = fc.constantFrom<WorkflowPresence>('open', 'closed', 'not found', 'unknown');
  const row = fc.record({
    kind: fc.constantFrom('job' as const, 'cluster' as const),
    job: fc.oneof(presence, fc.constant(null)),
    cluster: presence,
  });

  it('is never acted on at the first sight, nor before the grace period has ended', () => {
    fc.assert(
      fc.property(row, fc.integer({ min: -1_000, max: graceMs - 1 }), (seen, agoMs) => {
        const first = decideRow({ ...seen, missingSinceMs: null }, graceMs, nowMs);
        expect(['keep', 'remember', 'unknown']).toContain(first.do);
        const again = decideRow({ ...seen, missingSinceMs: nowMs - agoMs }, graceMs, nowMs);
        expect(['forget', 'wait', 'unknown']).toContain(again.do);
      }),
    );
  });

  it('is never acted on when something could not be asked, or while all its workflows run', () => {
    fc.assert(
      fc.property(row, (seen) => {
        const decision = decide(seen);
        if (seen.job === 'unknown' || seen.cluster === 'unknown') expect(decision).toEqual({ do: 'unknown' });
        if ((seen.job === null || seen.job === 'open') && seen.cluster === 'open') expect(decision.do).toBe('forget');
      }),
    );
  });
});
