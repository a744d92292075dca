// An agent from its job's point of view. It increments its claim after each answer, repeats unanswered exchanges, and keeps results until they are
// acknowledged. It may hold several leases, run them at once or one after the other, return leases that it has not begun, be slow, freeze, die, and
// have a skewed clock.
import type { ExchangeAnswer, ExchangeItem, TaskResult } from '../../domain/job/protocol.ts';

export interface SimAgent {
  id: string;
  capacity: number;
  /** It runs one task at a time: its other leases wait for their turn. */
  takesTurns: boolean;
  head: boolean;
  /** The offset of its clock from the simulation's clock. */
  skewMs: number;
  claim: number;
  claimIsOpen: boolean;
  highestLease: number;
  /** Including the leases that wait for their turn, in the order of their turns. */
  running: { lease: number; task: number; attempt: number }[];
  /** Returned and not acknowledged yet. */
  returning: number[];
  unacknowledged: TaskResult[];
  frozen: boolean;
  dead: boolean;
  /** It received the order to stop. */
  stopped: boolean;
}

type Born = Pick<SimAgent, 'id' | 'capacity' | 'takesTurns' | 'skewMs' | 'head'>;

export function createAgent(born: Born): SimAgent {
  return {
    ...born,
    claim: 0,
    claimIsOpen: false,
    highestLease: 0,
    running: [],
    returning: [],
    unacknowledged: [],
    frozen: false,
    dead: false,
    stopped: false,
  };
}

export function isAwake(agent: SimAgent): boolean {
  return !agent.frozen && !agent.dead && !agent.stopped;
}

export function speak(agent: SimAgent): ExchangeItem {
  const want = agent.capacity - agent.running.length;
  if (want > 0 && !agent.claimIsOpen) {
    agent.claim += 1;
    agent.claimIsOpen = true;
  }
  const leases = agent.running.map((held) => held.lease);
  const begun = agent.takesTurns ? 1 : leases.length;
  return {
    instance: agent.id,
    claim: agent.claim,
    want,
    running: leases.slice(0, begun),
    ...(agent.takesTurns ? { held: leases.slice(begun), returned: [...agent.returning] } : {}),
    results: [...agent.unacknowledged],
    head: agent.head,
  };
}

export function hear(agent: SimAgent, item: ExchangeItem, answer: ExchangeAnswer): void {
  agent.claimIsOpen = false;
  agent.returning = agent.returning.filter((lease) => item.returned?.includes(lease) !== true);
  agent.unacknowledged = agent.unacknowledged.filter((result) => !answer.acknowledged.includes(result.lease));
  agent.running = agent.running.filter((held) => !answer.drop.includes(held.lease));
  if (answer.stop !== null) {
    agent.stopped = true;
    agent.running = [];
    return;
  }
  if (item.want === 0) return;
  for (const { lease, task, attempt } of answer.grants) {
    if (lease <= agent.highestLease) continue;
    agent.highestLease = lease;
    agent.running.push({ lease, task, attempt });
  }
}

/** It returns all leases that wait for their turn. */
export function returnLeases(agent: SimAgent): void {
  if (!agent.takesTurns) return;
  agent.returning.push(...agent.running.splice(1).map((held) => held.lease));
}

/** Its oldest task ends. Null when it holds none. */
export function finishOne(agent: SimAgent, exitCode: number, nowMs: number): TaskResult | null {
  const held = agent.running.shift();
  if (held === undefined) return null;
  const atMs = nowMs + agent.skewMs;
  const killed = exitCode < 0;
  const result = {
    ...held,
    exitCode: killed ? null : exitCode,
    signal: killed ? 'SIGKILL' : null,
    startedAtMs: atMs,
    endedAtMs: atMs,
    reason: null,
  };
  agent.unacknowledged.push(result);
  return result;
}
