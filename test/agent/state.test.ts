// The agent's decisions without processes: what it says next, and what an answer makes it do.
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';

import {
  abandon,
  applyAnswer,
  confirmAfterMs,
  createAgentState,
  drain,
  endTurns,
  isDrained,
  noteSent,
  planExchange,
  resultsKept,
  resultsWithinMs,
  taskEnded,
} from '../../agent/state.ts';
import type { AgentState, Grant, TaskResult } from '../../agent/state.ts';
import type { ExchangeAnswerBody, ExchangeRequest } from '../../schema/agent.ts';

const answerWith = (fields: Partial<ExchangeAnswerBody>): ExchangeAnswerBody => ({
  grants: [],
  acknowledged: [],
  drop: [],
  stop: null,
  retryAfterMs: 2_000,
  renewWithinMs: 30_000,
  taskCount: 1,
  schedulerAddress: null,
  readyWorkers: [],
  token: null,
  ...fields,
});
const grant = (lease: number): Grant => ({ lease, task: lease, taskId: lease, attempt: 1 });
const resultOf = (lease: number): TaskResult => ({
  lease,
  task: lease,
  attempt: 1,
  exitCode: 0,
  signal: null,
  startedAtMs: 1,
  endedAtMs: 2,
  reason: null,
});

function say(state: AgentState, nowMs: number): { state: AgentState; request: ExchangeRequest } {
  const { say: request } = planExchange(state, nowMs);
  if (request === null) throw new Error('nothing to say');
  return { state: noteSent(state, request), request };
}

function trade(state: AgentState, nowMs: number, fields: Partial<ExchangeAnswerBody>) {
  const said = say(state, nowMs);
  return { ...applyAnswer(said.state, said.request, answerWith(fields), { nowMs }), request: said.request };
}

/** As the loop has it once the result is on disk. */
function finish(state: AgentState, result: TaskResult | null, nowMs: number): AgentState {
  const ended = taskEnded(state, result, nowMs).state;
  return resultsKept(ended, ended.unkept);
}

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

  it('does not spin when an answer asks it back at once', () => {
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
    const told = trade(state, 0, { mayHold: 1 });
    expect(told.request).toMatchObject({ want: 0, returned: [1] });
    expect(isDrained(told.state)).toBe(true);
    expect(planExchange(told.state, 100_000).say).toBeNull();
  });

  it('lets its task run on and tells the result, and is drained when that is acknowledged', () => {
    const begun = drain(trade(createAgentState(0), 0, { grants: [grant(1)] }).state);
    expect(isDrained(begun)).toBe(false);
    expect(say(begun, 60_000).request).toMatchObject({ want: 0, running: [1] });
    const ended = finish(begun, resultOf(1), 60_000);
    expect(isDrained(ended)).toBe(false);
    const told = say(ended, 60_000);
    expect(told.request).toMatchObject({ want: 0, results: [resultOf(1)] });
    expect(
      isDrained(applyAnswer(told.state, told.request, answerWith({ acknowledged: [1] }), { nowMs: 60_001 }).state),
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
      now = resultsKept(next.state, next.state.unkept);
    }
    const { request } = say(now, 410);
    expect(request).toMatchObject({ running: [17], held: leases(18, 15).map(({ lease }) => lease) });
    expect(request.want).toBe(15);
    expect(request.results.map(({ lease }) => lease)).toEqual(leases(1, 16).map(({ lease }) => lease));
  });

  it('leave results that wait for company, but not for long, and never before they are on disk', () => {
    const { state } = trade(after(25), 25, { grants: leases(2, 11), acknowledged: [1], mayHold });
    const ended = taskEnded(state, resultOf(2), 100).state;
    expect(say(ended, 1_100).request).toMatchObject({ running: [3, 2], results: [] });
    const kept = resultsKept(ended, ended.unkept);
    expect(planExchange(kept, 100)).toEqual({ say: null, waitMs: resultsWithinMs });
    expect(say(kept, 100 + resultsWithinMs).request).toMatchObject({ running: [3], results: [resultOf(2)] });
  });

  it('that end while an exchange is under way do not make another at once, unless they were the last', () => {
    const { state } = trade(after(25), 25, { grants: leases(2, 31), acknowledged: [1], mayHold });
    const ended = taskEnded(state, resultOf(2), 50).state;
    const told = say(resultsKept(ended, ended.unkept), 550);
    const meanwhile = finish(told.state, resultOf(3), 560);
    const answer = answerWith({ acknowledged: [2], mayHold });
    const { state: heard } = applyAnswer(meanwhile, told.request, answer, { nowMs: 600, tookMs: 50 });
    expect(planExchange(heard, 600)).toEqual({ say: null, waitMs: resultsWithinMs - 50 });
    const last = { ...meanwhile, waiting: [] };
    const alone = applyAnswer(last, told.request, answer, { nowMs: 600, tookMs: 50 });
    expect(say(alone.state, 600).request.results).toEqual([resultOf(3)]);
  });

  it('are handed back once the running task has turned out long, and when the agent drains', () => {
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

  it('are handed back until that has been heard', () => {
    const { state } = trade(after(25), 25, { grants: leases(2, 3), acknowledged: [1], mayHold });
    const first = say(drain(state), 30);
    expect(say(first.state, 31).request.returned).toEqual([3, 4]);
    const heard = applyAnswer(first.state, first.request, answerWith({ mayHold }), { nowMs: 32 });
    expect(planExchange(heard.state, 33).say).toBeNull();
  });

  it('are given up when their lease has ended', () => {
    const { state } = trade(after(25), 25, { grants: leases(2, 3), acknowledged: [1], mayHold });
    const told = trade(state, 1_024, { drop: [3], mayHold });
    expect(told.orders.kill).toBeNull();
    expect(told.state.waiting.map(({ lease }) => lease)).toEqual([4]);
  });
});
