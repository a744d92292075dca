// Decides the content of the next exchange and the meaning of its answer. Pure: no clock, no process, no network; the loop in
// exchange-loop.ts carries the decisions out. One task runs at a time, others may wait for their turn, one exchange is in
// flight.
import type { ExchangeAnswerBody, ExchangeRequest } from '../../schema/agent.ts';
import { aheadFor, createPace, exchangeTook, maxTurnMs, taskTook } from './pace.ts';
import type { Pace } from './pace.ts';

export type Grant = ExchangeAnswerBody['grants'][number];
export type TaskResult = ExchangeRequest['results'][number];

export interface HeldTask {
  lease: number;
  sinceMs: number;
  /** Its command has started; until then the lease can be returned as if it had never been held. */
  begun: boolean;
  /** Ordered to end: it renews no lease and leaves no result. */
  dropped: boolean;
}

export interface AgentState {
  /** Number of the last claim made. */
  claim: number;
  /** The claim is unanswered. Its grants may already be recorded, so it is repeated under the same number. */
  claimIsOpen: boolean;
  /** The running task. */
  held: HeldTask | null;
  /** Granted tasks in the order of their turns. */
  waiting: Grant[];
  /** Leases returned before their start, until that is acknowledged. */
  returning: number[];
  /** Leases only grow: a grant at or below this one is a repetition. */
  highestLease: number;
  /** Results that are not yet on disk; they are sent afterwards. */
  unkept: TaskResult[];
  unacknowledged: TaskResult[];
  claimAtMs: number;
  renewAtMs: number;
  resultsAtMs: number;
  renewWithinMs: number;
  /** Leases that the control plane allows this agent to hold, including the running one. */
  mayHold: number;
  pace: Pace;
  /** Results per exchange: fewer after a refusal. */
  resultsAtOnce: number;
  /** Exchanges refused in a row. */
  refusals: number;
  /** This instance takes no more tasks; it sends results, and the running task may continue. */
  draining: boolean;
}

export type Plan = { say: null; waitMs: number } | { say: Composed };

export interface Orders {
  start: Grant | null;
  /** Lease whose command must end. */
  kill: number | null;
  /** Leases whose results may be deleted. */
  forget: number[];
  stop: { code: string; text: string } | null;
}

/**
 * A new task is confirmed as running this soon: until then the control plane cannot distinguish a lost answer from a running
 * task.
 */
export const confirmAfterMs = 1_000;
/** Results wait this long for others while there is more to run. */
export const resultsWithinMs = 500;
/** Prevents a busy loop when an answer requests an immediate exchange. */
const minClaimPauseMs = 25;
const minRepeatResultMs = 250;
const maxResultsPerExchange = 500;
/** The limit in schema/agent.ts. */
const maxRunning = 1_000;
const longestWaitMs = 60_000;
const never = Number.POSITIVE_INFINITY;

export function createAgentState(nowMs: number): AgentState {
  return {
    claim: 0,
    claimIsOpen: false,
    held: null,
    waiting: [],
    returning: [],
    highestLease: -1,
    unkept: [],
    unacknowledged: [],
    claimAtMs: nowMs,
    renewAtMs: nowMs,
    resultsAtMs: nowMs,
    renewWithinMs: 30_000,
    mayHold: 1,
    pace: createPace(),
    resultsAtOnce: maxResultsPerExchange,
    refusals: 0,
    draining: false,
  };
}

/** The next exchange, or the time until one is needed. */
export function planExchange(state: AgentState, nowMs: number): Plan {
  const dueAtMs = Math.min(
    wanted(state, nowMs) > 0 ? state.claimAtMs : never,
    runs(state) ? state.renewAtMs : never,
    state.unacknowledged.length > 0 ? state.resultsAtMs : never,
    state.returning.length > 0 ? nowMs : never,
  );
  if (dueAtMs > nowMs) return { say: null, waitMs: Math.min(longestWaitMs, dueAtMs - nowMs, turnLeftMs(state, nowMs)) };
  return { say: compose(state, nowMs) };
}

/** The part of the request that follows from the agent's state; the loop adds the rest. */
export type Composed = Omit<ExchangeRequest, 'head' | 'addressesSeen'>;

/** The complete current state, for a request that is made anyway. */
export function compose(state: AgentState, nowMs: number): Composed {
  const claims = state.claimAtMs <= nowMs && !state.claimIsOpen;
  const want = state.claimIsOpen ? Math.max(1, wanted(state, nowMs)) : claims ? wanted(state, nowMs) : 0;
  const active = state.held !== null && !state.held.dropped ? [state.held] : [];
  const running = active.filter(({ begun }) => begun).map(({ lease }) => lease);
  const preparing = active.filter(({ begun }) => !begun);
  const held = [...preparing, ...state.waiting].map(({ lease }) => lease);
  const results = state.unacknowledged.slice(0, state.resultsAtOnce);
  const unsent = state.unacknowledged.slice(state.resultsAtOnce);
  return {
    claim: want > 0 && !state.claimIsOpen ? state.claim + 1 : state.claim,
    want,
    // Renews leases whose results are not in this request as if they ran: a claim loses the leases that it does not name.
    running: [...running, ...[...state.unkept, ...unsent].map(({ lease }) => lease)].slice(0, maxRunning),
    ...(held.length === 0 ? {} : { held }),
    ...(state.returning.length === 0 ? {} : { returned: state.returning }),
    results,
  };
}

/** Must be called for every request before it is sent, including retries. */
export function noteSent(state: AgentState, request: Composed): AgentState {
  return { ...state, claim: request.claim, claimIsOpen: state.claimIsOpen || request.want > 0 };
}

/** The state may have changed while the request was in flight: a task may have ended in between. */
export function applyAnswer(
  state: AgentState,
  request: Composed,
  answer: ExchangeAnswerBody,
  { nowMs, tookMs = 0 }: { nowMs: number; tookMs?: number },
): { state: AgentState; orders: Orders } {
  const acknowledged = new Set(answer.acknowledged);
  const unacknowledged = state.unacknowledged.filter((result) => !acknowledged.has(result.lease));
  const forget = state.unacknowledged.map((result) => result.lease).filter((lease) => acknowledged.has(lease));
  const granted = request.want === 0 ? [] : answer.grants.filter((grant) => grant.lease > state.highestLease);
  const returned = new Set(request.returned);
  const sent = new Set(request.results.map((result) => result.lease));
  const allWereSent = state.unkept.length === 0 && unacknowledged.every((result) => sent.has(result.lease));
  // The control plane grants nothing beside the leases that the agent held at the request. If they have ended, the answer is
  // outdated.
  const hadWork = request.running.length + (request.held?.length ?? 0) > 0;
  const isOutdated = hadWork && state.held === null;
  const pauseMs = granted.length > 0 || isOutdated ? 0 : answer.retryAfterMs;
  // Unsent results arrived meanwhile; while there is more to run, they wait for others from then on.
  const hasMore = state.waiting.length + granted.length > 0;
  const unsentAtMs = hasMore ? Math.max(state.resultsAtMs, nowMs - tookMs + resultsWithinMs) : state.resultsAtMs;
  const isRefused = state.draining || answer.stop !== null;
  const refused = isRefused ? granted.map(({ lease }) => lease) : [];
  const heard: AgentState = {
    ...state,
    claimIsOpen: false,
    held: heldAfter(state.held, answer),
    waiting: [...state.waiting.filter(({ lease }) => !answer.drop.includes(lease)), ...(isRefused ? [] : granted)],
    returning: [...state.returning.filter((lease) => !returned.has(lease)), ...refused],
    highestLease: granted.reduce((highest, { lease }) => Math.max(highest, lease), state.highestLease),
    unacknowledged,
    claimAtMs: request.want > 0 ? nowMs + Math.max(minClaimPauseMs, pauseMs) : state.claimAtMs,
    resultsAtMs: allWereSent ? nowMs + Math.max(minRepeatResultMs, answer.retryAfterMs) : unsentAtMs,
    renewWithinMs: answer.renewWithinMs,
    renewAtMs: renewalAfter(state, request, nowMs, answer.renewWithinMs),
    mayHold: answer.mayHold,
    pace: exchangeTook(state.pace, tookMs),
    resultsAtOnce: Math.min(maxResultsPerExchange, state.resultsAtOnce * 2),
    refusals: 0,
  };
  const kill = heard.held?.dropped === true && state.held?.dropped === false ? heard.held.lease : null;
  const { state: next, start } = nextTurn(heard, nowMs);
  return { state: next, orders: { start, kill, forget, stop: answer.stop } };
}

/** The command of the current task has started. */
export const taskBegan = (state: AgentState, lease: number): AgentState =>
  state.held?.lease === lease ? { ...state, held: { ...state.held, begun: true } } : state;

/**
 * The running task has ended; without a result when it was dropped. The next task gets its turn, and results may wait for more.
 */
export function taskEnded(
  state: AgentState,
  result: TaskResult | null,
  nowMs: number,
): { state: AgentState; start: Grant | null } {
  const isLast = state.waiting.length === 0;
  const isFirst = state.unkept.length + state.unacknowledged.length === 0;
  const dueAtMs = isLast ? nowMs : nowMs + resultsWithinMs;
  const ended: AgentState = {
    ...state,
    held: null,
    unkept: result === null ? state.unkept : [...state.unkept, result],
    claimAtMs: isLast ? nowMs : state.claimAtMs,
    resultsAtMs: result === null ? state.resultsAtMs : isFirst ? dueAtMs : Math.min(state.resultsAtMs, dueAtMs),
    pace: state.held === null ? state.pace : taskTook(state.pace, nowMs - state.held.sinceMs),
  };
  return nextTurn(ended, nowMs);
}

/** The results are on disk and may be sent. */
export function resultsKept(state: AgentState, kept: readonly TaskResult[]): AgentState {
  return {
    ...state,
    unkept: state.unkept.filter((result) => !kept.includes(result)),
    unacknowledged: [...state.unacknowledged, ...kept],
  };
}

/** Returns tasks that waited too long behind the running one: other instances may be idle. */
export function endTurns(state: AgentState, nowMs: number): AgentState {
  return turnLeftMs(state, nowMs) > 0 ? state : returnLeases(state);
}

/** Whether more tasks must be requested now, so that results should not wait for others. */
export const runsLow = (state: AgentState, nowMs: number): boolean =>
  state.waiting.length === 0 || (!state.claimIsOpen && wanted(state, nowMs) > 0);

/** The instance will be terminated soon. Tasks that have not started, and new grants, are left to others. */
export const drain = (state: AgentState): AgentState => ({ ...returnLeases(state), draining: true });

/** No time is left: the running task is ended without a result. */
export const abandon = (state: AgentState): AgentState =>
  state.held === null ? state : { ...state, held: { ...state.held, dropped: true } };

/** This instance cannot prepare the current task: the task is returned, and no other is taken. */
export function unprepared(state: AgentState): AgentState {
  const drained = drain(state);
  if (drained.held === null || drained.held.dropped) return { ...drained, held: null };
  return { ...drained, held: null, returning: [drained.held.lease, ...drained.returning] };
}

/** Nothing runs, and every result has been sent. */
export const isDrained = (state: AgentState): boolean =>
  state.draining &&
  state.held === null &&
  state.unkept.length + state.unacknowledged.length + state.returning.length === 0;

const returnLeases = (state: AgentState): AgentState => ({
  ...state,
  waiting: [],
  returning: [...state.returning, ...state.waiting.map(({ lease }) => lease)],
});

const runs = ({ held }: AgentState): boolean => held !== null && !held.dropped;

/** Leases to request. More are requested when half of the held ones are used up, and none behind a long task. */
function wanted(state: AgentState, nowMs: number): number {
  if (state.draining) return 0;
  const ahead = Math.min(aheadFor(state.pace), state.mayHold - 1);
  if (state.held === null) return 1 + ahead;
  const isLong = nowMs - state.held.sinceMs >= maxTurnMs;
  if (state.held.dropped || isLong || state.waiting.length > ahead / 2) return 0;
  return Math.max(0, ahead - state.waiting.length);
}

function turnLeftMs({ held, waiting }: AgentState, nowMs: number): number {
  return held === null || waiting.length === 0 ? never : held.sinceMs + maxTurnMs - nowMs;
}

function nextTurn(state: AgentState, nowMs: number): { state: AgentState; start: Grant | null } {
  const [start, ...waiting] = state.waiting;
  if (state.held !== null || start === undefined) return { state, start: null };
  const held = { lease: start.lease, sinceMs: nowMs, begun: false, dropped: false };
  const renewAtMs = nowMs + Math.min(confirmAfterMs, state.renewWithinMs);
  return { state: { ...state, held, waiting, renewAtMs }, start };
}

function heldAfter(held: HeldTask | null, answer: ExchangeAnswerBody): HeldTask | null {
  return held !== null && answer.drop.includes(held.lease) ? { ...held, dropped: true } : held;
}

/** A task that was still being prepared is confirmed as running soon after its start. */
function renewalAfter({ held, renewAtMs }: AgentState, said: Composed, nowMs: number, withinMs: number): number {
  if (held === null) return renewAtMs;
  if (said.running.includes(held.lease)) return nowMs + withinMs;
  return said.held?.includes(held.lease) === true ? nowMs + Math.min(confirmAfterMs, withinMs) : renewAtMs;
}
