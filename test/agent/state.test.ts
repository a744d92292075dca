// The agent's decisions without processes: its next message, and the effect of an answer.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  abandon,
  applyAnswer,
  confirmAfterMs,
  createAgentState,
  drain,
  isDrained,
  noteSent,
  planExchange,
  taskBegan,
  unprepared,
} from '../../agent/job/exchange-state.ts';
import type { Grant } from '../../agent/job/exchange-state.ts';
import { answerWith, grant, resultOf, say, trade, finish } from './exchanges.ts';

describe('claims', () => {
  it('is made at once when idle, and again after the time that the answer names', () => {
    const { state, orders } = trade(createAgentState(0), 0, { retryAfterMs: 700 });
    expect(orders).toEqual({ start: null, kill: null, forget: [], stop: null });
    expect(planExchange(state, 699)).toEqual({ say: null, waitMs: 1 });
    expect(say(state, 700).request).toMatchObject({ claim: 2, want: 1 });
  });

  it('keeps its number until it has been answered', () => {
    const first = say(createAgentState(0), 0);
    const second = say(first.state, 5_000);
    expect([first.request.claim, second.request.claim]).toEqual([1, 1]);
    const { state } = applyAnswer(second.state, second.request, answerWith({}), { nowMs: 5_000 });
    expect(say(state, 60_000).request.claim).toBe(2);
  });

  it('is not made while a task is held, not even one that is being ended', () => {
    const { state } = trade(createAgentState(0), 0, { grants: [grant(4)] });
    expect(say(state, 60_000).request.want).toBe(0);
    const dropped = trade(state, 60_000, { drop: [4] });
    expect(dropped.orders.kill).toBe(4);
    expect(planExchange(dropped.state, 10_000_000).say).toBeNull();
  });

  it('does not repeat an exchange at once when the answer names a wait of 0 ms', () => {
    const { state } = trade(createAgentState(0), 0, { retryAfterMs: 0 });
    expect(planExchange(state, 0).say).toBeNull();
  });
});

describe('a held task', () => {
  it('is confirmed soon after its start, then renewed as often as asked', () => {
    const { state, orders } = trade(createAgentState(0), 100, { grants: [grant(4)] });
    expect(orders.start).toEqual(grant(4));
    expect(planExchange(state, 100)).toEqual({ say: null, waitMs: confirmAfterMs });
    const confirmed = trade(state, 1_100, { renewWithinMs: 5_000 });
    expect(confirmed.request).toMatchObject({ want: 0, running: [4], results: [] });
    expect(planExchange(confirmed.state, 1_100)).toEqual({ say: null, waitMs: 5_000 });
  });

  it('sends its result at once, together with the next claim', () => {
    const { state } = trade(createAgentState(0), 0, { grants: [grant(4)] });
    const { request } = say(finish(state, resultOf(4), 10), 10);
    expect(request).toEqual({ claim: 2, want: 1, running: [], results: [resultOf(4)] });
  });

  it('leaves no result when it was dropped', () => {
    const { state } = trade(createAgentState(0), 0, { grants: [grant(4)] });
    const dropped = trade(state, 2_000, { drop: [4] });
    const again = trade(finish(dropped.state, null, 3_000), 3_000, {});
    expect(again.request).toMatchObject({ want: 1, results: [] });
  });

  it('is not ordered to end by an answer to what was said before it began', () => {
    const { state } = trade(createAgentState(0), 0, { grants: [grant(4)] });
    expect(trade(state, 2_000, { drop: [3] }).orders.kill).toBeNull();
  });

  it('is not begun a second time by a repeated grant', () => {
    const { state } = trade(createAgentState(0), 0, { grants: [grant(4)] });
    const repeated = trade(finish(state, resultOf(4), 10), 10, { grants: [grant(4)], acknowledged: [4] });
    expect(repeated.orders.start).toBeNull();
  });
});

describe('a task that is being prepared', () => {
  const granted = (leases: number[]) => {
    const said = say(createAgentState(0), 0);
    const answer = answerWith({ grants: leases.map(grant), mayHold: leases.length });
    return applyAnswer(said.state, said.request, answer, { nowMs: 0 }).state;
  };

  it('is held, and confirmed as running soon after it begins', () => {
    const preparing = say(granted([4]), confirmAfterMs);
    expect(preparing.request).toMatchObject({ running: [], held: [4] });
    const { state } = applyAnswer(preparing.state, preparing.request, answerWith({}), { nowMs: confirmAfterMs });
    expect(planExchange(state, confirmAfterMs)).toEqual({ say: null, waitMs: confirmAfterMs });
    expect(say(taskBegan(state, 4), 2 * confirmAfterMs).request).toMatchObject({ running: [4] });
  });

  it('is returned with all that wait behind it when the instance cannot prepare it', () => {
    const unfit = say(unprepared(granted([4, 5])), 1);
    expect(unfit.request).toMatchObject({ want: 0, running: [], returned: [4, 5] });
    expect(isDrained(applyAnswer(unfit.state, unfit.request, answerWith({}), { nowMs: 2 }).state)).toBe(true);
  });
});

describe('results', () => {
  it('are forgotten when acknowledged, and repeated otherwise', () => {
    const { state } = trade(createAgentState(0), 0, { grants: [grant(4)] });
    const kept = trade(finish(state, resultOf(4), 10), 10, { retryAfterMs: 500 });
    expect(kept.orders.forget).toEqual([]);
    expect(planExchange(kept.state, 10)).toEqual({ say: null, waitMs: 500 });
    const acknowledged = trade(kept.state, 510, { acknowledged: [4] });
    expect(acknowledged.request.results).toEqual([resultOf(4)]);
    expect(acknowledged.orders.forget).toEqual([4]);
    expect(acknowledged.state.unacknowledged).toEqual([]);
  });

  it('that came up while an exchange was under way go out right after it', () => {
    const { state } = trade(createAgentState(0), 0, { grants: [grant(4)] });
    const renewing = say(state, 2_000);
    const ended = finish(renewing.state, resultOf(4), 2_010);
    const { state: after } = applyAnswer(ended, renewing.request, answerWith({}), { nowMs: 2_020 });
    expect(say(after, 2_020).request).toMatchObject({ want: 1, results: [resultOf(4)] });
  });
});

it('runs every granted lease once, whatever is lost on the way', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('ok', 'request lost', 'answer lost'), { maxLength: 60 }), (network) => {
      const total = 5;
      const begun: number[] = [];
      const recorded = new Set<number>();
      let nextLease = 0;
      let last = { claim: 0, grants: [] as Grant[] };
      let state = createAgentState(0);
      let nowMs = 0;
      for (const fate of [...network, ...Array.from({ length: 60 }, () => 'ok')]) {
        const plan = planExchange(state, nowMs);
        if (plan.say === null) {
          nowMs += plan.waitMs;
          continue;
        }
        const request = plan.say;
        state = noteSent(state, request);
        if (fate === 'request lost') continue;
        if (request.want > 0 && request.claim > last.claim) {
          const grants = nextLease < total ? [grant(nextLease)] : [];
          nextLease += grants.length;
          last = { claim: request.claim, grants };
        }
        for (const result of request.results) recorded.add(result.lease);
        if (fate === 'answer lost') continue;
        const grants = request.want > 0 ? last.grants : [];
        const acknowledged = request.results.map((result) => result.lease);
        const applied = applyAnswer(state, request, answerWith({ grants, acknowledged }), { nowMs });
        state = applied.state;
        if (applied.orders.start === null) continue;
        begun.push(applied.orders.start.lease);
        state = finish(state, resultOf(applied.orders.start.lease), nowMs);
      }
      expect(begun).toEqual([0, 1, 2, 3, 4]);
      expect([...recorded]).toEqual([0, 1, 2, 3, 4]);
    }),
  );
});

describe('a draining agent', () => {
  it('claims nothing more, and leaves a grant that is under way to others', () => {
    const claimed = say(createAgentState(0), 0);
    const draining = drain(claimed.state);
    const granting = answerWith({ grants: [grant(1)], mayHold: 1 });
    const { state, orders } = applyAnswer(draining, claimed.request, granting, { nowMs: 0 });
    expect([orders.start, state.held, isDrained(state)]).toEqual([null, null, false]);
    const sent = trade(state, 0, { mayHold: 1 });
    expect(sent.request).toMatchObject({ want: 0, returned: [1] });
    expect(isDrained(sent.state)).toBe(true);
    expect(planExchange(sent.state, 100_000).say).toBeNull();
  });

  it('lets its task run on and reports the result, and is drained when that is acknowledged', () => {
    const begun = drain(trade(createAgentState(0), 0, { grants: [grant(1)] }).state);
    expect(isDrained(begun)).toBe(false);
    expect(say(begun, 60_000).request).toMatchObject({ want: 0, running: [1] });
    const ended = finish(begun, resultOf(1), 60_000);
    expect(isDrained(ended)).toBe(false);
    const sent = say(ended, 60_000);
    expect(sent.request).toMatchObject({ want: 0, results: [resultOf(1)] });
    expect(
      isDrained(applyAnswer(sent.state, sent.request, answerWith({ acknowledged: [1] }), { nowMs: 60_001 }).state),
    ).toBe(true);
  });

  it('gives up what runs when there is no time left: no renewal and no result', () => {
    const begun = trade(createAgentState(0), 0, { grants: [grant(1)] }).state;
    const late = abandon(drain(begun));
    expect(late.held).toMatchObject({ lease: 1, dropped: true });
    expect(planExchange(late, 100_000).say).toBeNull();
    expect(isDrained(finish(late, null, 100_000))).toBe(true);
  });
});
