// A port to Temporal that fails fast during an outage: Temporal's client retries until a call's deadline, and callers that can do without an answer
// would wait for it each time.
import { RopewalkError } from '../domain/errors.ts';
import { isUnavailable } from './unavailable.ts';
import type { WorkflowsPort } from './workflows-port.ts';

/**
 * A failed call starts a check of Temporal; one workflow without an answer is no outage. During an outage a start, query, signal or result is awaited
 * only briefly. The call continues, and the first success ends the outage.
 */
export function withQuickOutages(port: WorkflowsPort): WorkflowsPort {
  let isOut = false;
  let checking: Promise<boolean> | null = null;

  const check = (): Promise<boolean> => {
    checking ??= port
      .isReachable()
      .then((isReachable) => {
        isOut = !isReachable;
        return isReachable;
      })
      .finally(() => {
        checking = null;
      });
    return checking;
  };
  const quick = async <T>(call: Promise<T>): Promise<T> => {
    const watched = call.then(
      (value) => {
        isOut = false;
        return value;
      },
      (error: unknown) => {
        if (isUnavailable(error)) void check();
        throw error;
      },
    );
    return isOut ? Promise.race([watched, failSoon()]) : watched;
  };

  return {
    start: (start) => quick(port.start(start)),
    query: (...what) => quick(port.query(...what)),
    signal: (...what) => quick(port.signal(...what)),
    result: (workflowId) => quick(port.result(workflowId)),
    // Its callers repeat their updates, and need to know whether one was applied.
    update: (...what) => port.update(...what),
    isReachable: check,
  };
}

const maxOutageWaitMs = 250;

const failSoon = (): Promise<never> =>
  new Promise((_, reject) => {
    setTimeout(() => reject(unreachable()), maxOutageWaitMs);
  });

const unreachable = () =>
  new RopewalkError(
    {
      code: 'UNAVAILABLE',
      message: 'Temporal cannot be reached.',
      hint: 'Try again after the time given in Retry-After. If it stays so, check that Temporal runs.',
    },
    { retryAfterMs: 1_000 },
  );
