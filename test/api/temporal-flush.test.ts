// One flush as one workflow update: repeated under its id when a run ends meanwhile, but not forever.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';

import { createTemporalFlush } from '../../services/group-commit/temporal-flush.ts';
import type { UpdateOutcome, WorkflowsPort } from '../../services/workflows-port.ts';
import { RopewalkError } from '../../domain/errors.ts';
import { updateDeadlineMs } from '../../domain/workflow-limits.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('a flush as a workflow update', () => {
  const portThat = (outcomes: (() => UpdateOutcome<unknown>)[]) => {
    const calls: { id: string; name: string; input: unknown; updateId: string }[] = [];
    // The cast is sound: each test scripts the outcome of the one update that it sends.
    const update = (async (id: string, name: string, input: unknown, { updateId }: { updateId: string }) => {
      calls.push({ id, name, input, updateId });
      return outcomes[calls.length - 1]?.() ?? { kind: 'aborted' };
    }) as WorkflowsPort['update'];
    return { update, calls };
  };
  const run = async <T>(promise: Promise<T>): Promise<T> => {
    const guarded = promise.catch((error: unknown) => error);
    await vi.advanceTimersByTimeAsync(updateDeadlineMs);
    await guarded;
    return promise;
  };
  const done = () => ({ kind: 'done', value: { items: [{ ok: 'x' }] } }) as const;

  it('sends the items and returns the answers', async () => {
    const port = portThat([done]);
    const flush = createTemporalFlush<string, string>(port, 'job.exchange');
    expect(await run(flush('job/1', ['a']))).toEqual({ kind: 'answers', items: [{ ok: 'x' }] });
    expect(port.calls[0]).toMatchObject({ id: 'job/1', name: 'job.exchange', input: { items: ['a'] } });
  });

  it('repeats under the same update id when the run ended under it, and uses a new one for the next flush', async () => {
    const port = portThat([() => ({ kind: 'aborted' }), () => ({ kind: 'aborted' }), done, done]);
    const flush = createTemporalFlush<string, string>(port, 'job.exchange');
    await run(flush('job/1', ['a']));
    await run(flush('job/1', ['b']));
    const ids = port.calls.map(({ updateId }) => updateId);
    expect(new Set(ids.slice(0, 3)).size).toBe(1);
    expect(ids[3]).not.toBe(ids[0]);
  });

  it('gives up with UNAVAILABLE, a bounded number of tries', async () => {
    const port = portThat([]);
    const flush = createTemporalFlush<string, string>(port, 'job.exchange');
    await expect(run(flush('job/1', ['a']))).rejects.toMatchObject({ problem: { code: 'UNAVAILABLE' } });
    expect(port.calls).toHaveLength(5);
  });

  it('says closed for a workflow that has ended or is not there, and passes an outage on', async () => {
    for (const kind of ['closed', 'missing'] as const) {
      const flush = createTemporalFlush<string, string>(portThat([() => ({ kind })]), 'job.exchange');
      expect(await run(flush('job/1', ['a']))).toEqual({ kind: 'closed' });
    }
    const away = new RopewalkError({ code: 'UNAVAILABLE', message: 'away' });
    const port = portThat([
      () => {
        throw away;
      },
    ]);
    await expect(run(createTemporalFlush<string, string>(port, 'u')('job/1', ['a']))).rejects.toBe(away);
  });
});
