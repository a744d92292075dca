// Failures on demand: the nth call from now fails, answers get lost after their effect, calls are throttled.
import { createRandom } from '../support/random.ts';
import { AwsError } from './aws-error.ts';
import type { Clock } from './clock.ts';

export interface Fault {
  /** E.g. `CreateFleet`; `*` is any call. */
  action: string;
  /** 1 is the next call. */
  nth: number;
  /** How many calls in a row, from the nth. */
  times: number;
  /** `error` returns the error; `lost` carries the call out and then cuts the connection; `cut` cuts it without carrying the call out. */
  kind: 'error' | 'lost' | 'cut';
  code?: string;
  message?: string;
  status?: number;
}

export interface Faults {
  add(fault: Fault): void;
  /** Loses each answer of the action with this probability, after its effect. */
  loseAnswers(action: string, share: number, seed: number): void;
  throttle(on: boolean): void;
  clear(): void;
  /** Called at the start of each call; throws the due error, or returns how to treat the answer. */
  next(action: string): 'answer' | 'lose' | 'cut';
  /** How often each action was called, and how often a fault really affected it. */
  counts(): { calls: Record<string, number>; injected: Record<string, number> };
}

/** Whether a call at this time is within the request rates of the cloud. */
export type Rates = () => (action: string, nowMs: number) => boolean;

/** Bucket size and refill per second, from the vendor's documentation, or from other people's measurements where it states none. */
const buckets: Record<string, [size: number, perSecond: number]> = {
  RunInstances: [5, 2],
  TerminateInstances: [100, 5],
  CreateTags: [100, 10],
};
const reading: [number, number] = [100, 20];
const changing: [number, number] = [50, 5];

const ratesOfEc2: Rates = () => {
  const levels = new Map<string, { tokens: number; atMs: number }>();
  return (action, nowMs) => {
    const [size, perSecond] = buckets[action] ?? (/^(Describe|Get|List)/.test(action) ? reading : changing);
    const level = levels.get(action) ?? { tokens: size, atMs: nowMs };
    const tokens = Math.min(size, level.tokens + ((nowMs - level.atMs) / 1000) * perSecond);
    levels.set(action, { tokens: tokens < 1 ? tokens : tokens - 1, atMs: nowMs });
    return tokens >= 1;
  };
};
const refusalOfEc2 = () => new AwsError('RequestLimitExceeded', 'Request limit exceeded.', 503);

export function createFaults(
  clock: Clock,
  { rates, refusal }: { rates: Rates; refusal: () => Error } = { rates: ratesOfEc2, refusal: refusalOfEc2 },
): Faults {
  let waiting: Fault[] = [];
  let losing = new Map<string, { share: number; random: () => number }>();
  let isWithinRate: ReturnType<Rates> | null = null;
  const calls: Record<string, number> = {};
  const injected: Record<string, number> = {};
  const count = (counter: Record<string, number>, name: string): void => {
    counter[name] = (counter[name] ?? 0) + 1;
  };

  const take = (action: string): void => {
    if (isWithinRate === null || isWithinRate(action, clock.nowMs())) return;
    count(injected, `${action} throttled`);
    throw refusal();
  };

  const due = (action: string): Fault | null => {
    const mine = waiting.filter((fault) => fault.action === action || fault.action === '*');
    for (const fault of mine) fault.nth -= 1;
    const found = mine.find((fault) => fault.nth <= 0 && fault.times > 0) ?? null;
    if (found !== null) found.times -= 1;
    waiting = waiting.filter((fault) => fault.times > 0);
    return found;
  };

  return {
    add: (fault) => void waiting.push({ ...fault }),
    loseAnswers: (action, share, seed) => void losing.set(action, { share, random: createRandom(seed) }),
    throttle: (on) => {
      isWithinRate = on ? rates() : null;
    },
    clear: () => {
      waiting = [];
      losing = new Map();
    },
    next(action) {
      count(calls, action);
      take(action);
      const fault = due(action);
      if (fault !== null) {
        count(injected, `${action} ${fault.kind}${fault.code === undefined ? '' : ` ${fault.code}`}`);
        if (fault.kind === 'error')
          throw new AwsError(
            fault.code ?? 'InternalError',
            fault.message ?? 'An internal error has occurred',
            fault.status ?? 500,
          );
        return fault.kind === 'lost' ? 'lose' : 'cut';
      }
      const lose = losing.get(action);
      if (lose === undefined || lose.random() >= lose.share) return 'answer';
      count(injected, `${action} lost`);
      return 'lose';
    },
    counts: () => ({ calls: { ...calls }, injected: { ...injected } }),
  };
}
