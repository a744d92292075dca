// Decides what the next exchange says and what its answer means. Pure: no clock, no process, no network; the loop in
// exchange-loop.ts carries the decisions out. One task at a time, one exchange in flight.
import type { ExchangeAnswerBody, ExchangeRequest } from '../schema/agent.ts';

export type Grant = ExchangeAnswerBody['grants'][number];
export type TaskResult = ExchangeRequest['results'][number];

export interface HeldTask {
  lease: number;
  /** Ordered to end: it renews nothing and leaves no result. */
  dropped: boolean;
}

export interface AgentState {
  /** Number of the last claim made. */
  claim: number;
  /** Nobody has answered it yet. Its grant may be on record already, so it is repeated under the same number. */
  claimIsOpen: boolean;
  held: HeldTask | null;
  /** Leases only grow: a grant at or below this one is a repetition. */
  highestLease: number;
  unacknowledged: TaskResult[];
  claimAtMs: number;
  renewAtMs: number;
  resultsAtMs: number;
  renewWithinMs: number;
  /** This instance takes no more tasks; results are told, and what runs may run on. */
  draining: boolean;
}

export type Plan = { say: null; waitMs: number } | { say: ExchangeRequest };

export interface Orders {
  start: Grant | null;
  /** Lease whose command must end. */
  kill: number | null;
  /** Leases whose results may be forgotten. */
  forget: number[];
  stop: { code: string; text: string } | null;
}

/** A new task is confirmed as running this soon: until then the control plane cannot tell a lost answer from work. */
export const confirmAfterMs = 1_000;
/** An answer that asks us back at once must not make us spin. */
const minClaimPauseMs = 25;
const minRepeatResultMs = 250;
const maxResultsPerExchange = 500;
const longestWaitMs = 60_000;

export function createAgentState(nowMs: number): AgentState {
  return {
    claim: 0,
    claimIsOpen: false,
    held: null,
    highestLease: -1,
    unacknowledged: [],
    claimAtMs: nowMs,
    renewAtMs: nowMs,
    resultsAtMs: nowMs,
    renewWithinMs: 30_000,
    draining: false,
  };
}

/** What to say now, or how long nothing needs to be said. */
export function planExchange(state: AgentState, nowMs: number): Plan {
  const claims = state.held === null && !state.draining;
  const renews = state.held !== null && !state.held.dropped;
  const dueAtMs = Math.min(
    claims ? state.claimAtMs : Number.POSITIVE_INFINITY,
    renews ? state.renewAtMs : Number.POSITIVE_INFINITY,
    state.unacknowledged.length > 0 ? state.resultsAtMs : Number.POSITIVE_INFINITY,
  );
  if (dueAtMs > nowMs) return { say: null, waitMs: Math.min(longestWaitMs, dueAtMs - nowMs) };
  const wants = claims && (state.claimAtMs <= nowMs || state.claimIsOpen);
  return {
    say: {
      claim: wants && !state.claimIsOpen ? state.claim + 1 : state.claim,
      want: wants ? 1 : 0,
      running: renews && state.held !== null ? [state.held.lease] : [],
      results: state.unacknowledged.slice(0, maxResultsPerExchange),
    },
  };
}

/** Call it for every request before it is sent, also when it is sent again after a failure. */
export function noteSent(state: AgentState, request: ExchangeRequest): AgentState {
  return { ...state, claim: request.claim, claimIsOpen: state.claimIsOpen || request.want > 0 };
}

/** The state may have moved on while the request was under way: a task may have ended in between. */
export function applyAnswer(
  state: AgentState,
  request: ExchangeRequest,
  answer: ExchangeAnswerBody,
  nowMs: number,
): { state: AgentState; orders: Orders } {
  const acknowledged = new Set(answer.acknowledged);
  const unacknowledged = state.unacknowledged.filter((result) => !acknowledged.has(result.lease));
  const forget = state.unacknowledged.map((result) => result.lease).filter((lease) => acknowledged.has(lease));
  const start = startable(state, request, answer);
  const held = start === null ? heldAfter(state.held, answer) : { lease: start.lease, dropped: false };
  const sent = new Set(request.results.map((result) => result.lease));
  const allWereSent = unacknowledged.every((result) => sent.has(result.lease));
  const next: AgentState = {
    ...state,
    claimIsOpen: false,
    held,
    highestLease: start?.lease ?? state.highestLease,
    unacknowledged,
    claimAtMs: request.want > 0 ? nowMs + Math.max(minClaimPauseMs, answer.retryAfterMs) : state.claimAtMs,
    resultsAtMs: allWereSent ? nowMs + Math.max(minRepeatResultMs, answer.retryAfterMs) : nowMs,
    renewWithinMs: answer.renewWithinMs,
    renewAtMs: renewalAfter(state, request, answer, start, nowMs),
  };
  const kill = held !== null && held.dropped && state.held?.dropped === false ? held.lease : null;
  return { state: next, orders: { start, kill, forget, stop: answer.stop } };
}

/** The held task is over; without a result when it was dropped. The next claim goes out with the result. */
export function taskEnded(state: AgentState, result: TaskResult | null, nowMs: number): AgentState {
  if (result === null) return { ...state, held: null, claimAtMs: nowMs };
  return {
    ...state,
    held: null,
    claimAtMs: nowMs,
    resultsAtMs: nowMs,
    unacknowledged: [...state.unacknowledged, result],
  };
}

/** The instance will be gone soon. A grant whose answer is still under way is left to others. */
export const drain = (state: AgentState): AgentState => ({ ...state, draining: true });

/** There is no time left: what runs is to be ended, and leaves no result. */
export const abandon = (state: AgentState): AgentState =>
  state.held === null ? state : { ...state, held: { ...state.held, dropped: true } };

/** Nothing runs, and everything has been told. */
export const isDrained = (state: AgentState): boolean =>
  state.draining && state.held === null && state.unacknowledged.length === 0;

function startable(state: AgentState, request: ExchangeRequest, answer: ExchangeAnswerBody): Grant | null {
  if (request.want === 0 || state.held !== null || state.draining || answer.stop !== null) return null;
  return answer.grants.find((grant) => grant.lease > state.highestLease) ?? null;
}

function heldAfter(held: HeldTask | null, answer: ExchangeAnswerBody): HeldTask | null {
  return held !== null && answer.drop.includes(held.lease) ? { ...held, dropped: true } : held;
}

function renewalAfter(
  state: AgentState,
  request: ExchangeRequest,
  answer: ExchangeAnswerBody,
  start: Grant | null,
  nowMs: number,
): number {
  if (start !== null) return nowMs + Math.min(confirmAfterMs, answer.renewWithinMs);
  if (state.held !== null && request.running.includes(state.held.lease)) return nowMs + answer.renewWithinMs;
  return state.renewAtMs;
}
