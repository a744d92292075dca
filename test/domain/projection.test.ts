// When a view is written to the database.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  createProjection,
  nextVersion,
  projectEveryMs,
  projectionDue,
  projectionDueMs,
  projectionFailed,
  projectionRetryMs,
  projectionWritten,
  type Shown,
} from '../../domain/projection.ts';

const running = (digest: string): Shown => ({ status: 'running', digest });

describe('a view', () => {
  it('is written at once when its status changes', () => {
    const projection = createProjection(1_000);
    expect(projectionDue(projection, running(''), 1_000)).toBe(true);
    projectionWritten(projection, running(''), 1_000);
    expect(projectionDue(projection, { status: 'done', digest: '' }, 1_001)).toBe(true);
  });

  it('is written a few seconds after the last time when something else changes', () => {
    const projection = createProjection(0);
    projectionWritten(projection, running('1'), 10_000);
    expect(projectionDueMs(projection, running('2'))).toBe(10_000 + projectEveryMs);
    expect(projectionDue(projection, running('2'), 10_000 + projectEveryMs - 1)).toBe(false);
    expect(projectionDue(projection, running('2'), 10_000 + projectEveryMs)).toBe(true);
  });

  it('is not written while nothing changes, however long that is', () => {
    const projection = createProjection(0);
    projectionWritten(projection, running('1'), 10_000);
    expect(projectionDueMs(projection, running('1'))).toBeNull();
  });

  it('is not due before anything but the admission is known', () => {
    const projection = createProjection(1_000);
    expect(projectionDueMs(projection, { status: 'pending', digest: '' })).toBeNull();
  });

  it('waits after a failure, also with a new status', () => {
    const projection = createProjection(0);
    projectionFailed(projection, 2_000);
    expect(projectionDueMs(projection, running('1'))).toBe(2_000 + projectionRetryMs);
  });

  it('is written at most every few seconds under one status, has a new version each time, and is never older for long', () => {
    const change = fc.record({ afterMs: fc.integer({ min: 1, max: 3_000 }), digest: fc.constantFrom('a', 'b', 'c') });
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 60 }), (changes) => {
        const projection = createProjection(0);
        projectionWritten(projection, running('a'), 0);
        const writes: { atMs: number; version: number }[] = [];
        let [nowMs, sameAtMs] = [0, 0];
        for (const { afterMs, digest } of changes) {
          nowMs += afterMs;
          if (digest === projection.written.digest) sameAtMs = nowMs;
          if (!projectionDue(projection, running(digest), nowMs)) continue;
          expect(nowMs - sameAtMs).toBeLessThanOrEqual(projectEveryMs + 3_000);
          sameAtMs = nowMs;
          writes.push({ atMs: nowMs, version: nextVersion(projection) });
          projectionWritten(projection, running(digest), nowMs);
        }
        for (const [index, { atMs, version }] of writes.entries()) {
          expect(version).toBe(index + 1);
          expect(atMs - (writes[index - 1]?.atMs ?? 0)).toBeGreaterThanOrEqual(projectEveryMs);
        }
      }),
    );
  });
});
