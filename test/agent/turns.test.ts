// The agent's decisions about short tasks: how many it holds, when it reports their results, when it returns them.
import { describe, expect, it } from 'vitest';

import {
  applyAnswer,
  createAgentState,
  drain,
  endTurns,
  planExchange,
  resultsKept,
  resultsWithinMs,
  taskEnded,
} from '../../agent/job/exchange-state.ts';
import type { Grant } from '../../agent/job/exchange-state.ts';
import { answerWith, begun, grant, resultOf, say, trade, finish } from './exchanges.ts';

describe('tasks that wait for their turn', () => {
  const mayHold = 100;
  const leases = (from: number, count: number): Grant[] => Array.from({ length: count }, (_, at) => grant(from + at));
  /** It has run one task of that length, and claims again with its result. */
  const after = (taskMs: number) => {
    const { state } = trade(createAgentState(0), 0, { grants: [grant(1)], mayHold });
    return finish(state, resultOf(1), taskMs);
  };
  const wantAfter = (taskMs: number): number => say(after(taskMs), taskMs).request.want;

  it('are asked for as tasks turn out short, and never behind a long one', () => {
    expect([1, 10, 25, 100, 400, 1_000, 1_001, 60_000].map(wantAfter)).toEqual([100, 76, 31, 9, 3, 2, 1, 1]);
  });

  it('are never more than the control plane lets it hold, and one where it does not say', () => {
    const { state } = trade(createAgentState(0), 0, { grants: [grant(1)], mayHold: 3 });
    expect(say(finish(state, resultOf(1), 1), 1).request.want).toBe(3);
    const old = trade(createAgentState(0), 0, { grants: [grant(1)] });
    expect(say(finish(old.state, resultOf(1), 1), 1).request).toEqual({
      ...{ claim: 2, want: 1, running: [], results: [resultOf(1)] },
    });
  });

  it('run one after the other, named in each exchange, and more are asked for when half are gone', () => {
    const { state, orders } = trade(after(25), 25, { grants: leases(2, 31), mayHold });
    expect([orders.start?.lease, state.waiting.length]).toEqual([2, 30]);
    let now = state;
    for (let lease = 2; lease < 17; lease += 1) {
      expect(planExchange(now, 25 * lease).say).toBeNull();
      const next = taskEnded(now, resultOf(lease), 25 * lease);
      expect(next.start?.lease).toBe(lease + 1);
      now = begun(resultsKept(next.state, next.state.unkept));
    }
    const { request } = say(now, 410);
    expect(request).toMatchObject({ running: [17], held: leases(18, 15).map(({ lease }) => lease) });
    expect(request.want).toBe(15);
    expect(request.results.map(({ lease }) => lease)).toEqual(leases(1, 16).map(({ lease }) => lease));
  });

  it('collect results to send several together, but not for long, and send none before it is on disk', () => {
    const { state } = trade(after(25), 25, { grants: leases(2, 11), acknowledged: [1], mayHold });
    const ended = begun(taskEnded(state, resultOf(2), 100).state);
    expect(say(ended, 1_100).request).toMatchObject({ running: [3, 2], results: [] });
    const kept = resultsKept(ended, ended.unkept);
    expect(planExchange(kept, 100)).toEqual({ say: null, waitMs: resultsWithinMs });
    expect(say(kept, 100 + resultsWithinMs).request).toMatchObject({ running: [3], results: [resultOf(2)] });
  });

  it('that end while an exchange is under way do not make another at once, unless they were the last', () => {
    const { state } = trade(after(25), 25, { grants: leases(2, 31), acknowledged: [1], mayHold });
    const ended = taskEnded(state, resultOf(2), 50).state;
    const sent = say(resultsKept(ended, ended.unkept), 550);
    const meanwhile = finish(sent.state, resultOf(3), 560);
    const answer = answerWith({ acknowledged: [2], mayHold });
    const { state: heard } = applyAnswer(meanwhile, sent.request, answer, { nowMs: 600, tookMs: 50 });
    expect(planExchange(heard, 600)).toEqual({ say: null, waitMs: resultsWithinMs - 50 });
    const last = { ...meanwhile, waiting: [] };
    const alone = applyAnswer(last, sent.request, answer, { nowMs: 600, tookMs: 50 });
    expect(say(alone.state, 600).request.results).toEqual([resultOf(3)]);
  });

  it('are returned once the running task has turned out long, and when the agent drains', () => {
    const behind = leases(3, 30).map(({ lease }) => lease);
    const { state } = trade(after(25), 25, { grants: leases(2, 31), acknowledged: [1], mayHold });
    expect(endTurns(state, 1_024)).toBe(state);
    expect(planExchange(state, 1_000)).toEqual({ say: null, waitMs: 25 });
    const long = trade(endTurns(state, 1_025), 1_025, { mayHold });
    expect(long.request).toMatchObject({ want: 0, running: [2], returned: behind });
    expect(long.request.held).toBeUndefined();
    expect(planExchange(long.state, 1_100).say).toBeNull();
    expect(say(drain(state), 30).request).toMatchObject({ want: 0, running: [2], returned: behind });
  });

  it('are returned again until an exchange has confirmed it', () => {
    const { state } = trade(after(25), 25, { grants: leases(2, 3), acknowledged: [1], mayHold });
    const first = say(drain(state), 30);
    expect(say(first.state, 31).request.returned).toEqual([3, 4]);
    const heard = applyAnswer(first.state, first.request, answerWith({ mayHold }), { nowMs: 32 });
    expect(planExchange(heard.state, 33).say).toBeNull();
  });

  it('are given up when their lease has ended', () => {
    const { state } = trade(after(25), 25, { grants: leases(2, 3), acknowledged: [1], mayHold });
    const sent = trade(state, 1_024, { drop: [3], mayHold });
    expect(sent.orders.kill).toBeNull();
    expect(sent.state.waiting.map(({ lease }) => lease)).toEqual([4]);
  });
});
