// Runs the dead-man timer of an agent: ends all its work when the control plane has been silent for too long, so that no
// instance runs for ever because we are gone for good. It only ever ends this agent; results stay on its disk.
import { defaultDeadManMs } from '../../domain/limits.ts';
import { heard, startDeadMan, tick, tickMs } from './watchdog.ts';
import type { Clocks } from './watchdog.ts';
import type { Log } from '../logs/log.ts';

export interface DeadManWatch {
  /** The control plane has answered. */
  heard: () => void;
  /** The cluster's own limit, known once the agent has registered. */
  limit: (limitMs: number) => void;
}

export const deadManCode = 'DEAD_MAN';
/** Of the agent's process: nothing was wrong with the agent itself. */
export const deadManExitCode = 3;

export function watchDeadMan(stopping: AbortController, log: Pick<Log, 'write'>): DeadManWatch {
  const { signal } = stopping;
  let state = startDeadMan(defaultDeadManMs, readClocks());
  const look = (): void => {
    const ticked = tick(state, readClocks());
    state = ticked.state;
    if (ticked.verdict === 'slept') log.write('This machine or this agent slept: the dead-man timer starts anew.');
    if (ticked.verdict === 'over') stopping.abort({ code: deadManCode, text: textOf(state.limitMs) });
  };
  const arm = (): NodeJS.Timeout => setInterval(look, tickMs(state.limitMs)).unref();
  let timer = arm();
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  return {
    heard: () => (state = heard(state, readClocks())),
    limit: (limitMs) => {
      if (limitMs === state.limitMs || signal.aborted) return;
      // With ticks of another length, so that the last one cannot look late.
      clearInterval(timer);
      state = startDeadMan(limitMs, readClocks());
      timer = arm();
    },
  };
}

const readClocks = (): Clocks => ({ monotonicMs: performance.now(), wallMs: Date.now() });

const textOf = (limitMs: number): string =>
  `Nobody has answered this agent for ${limitMs >= 120_000 ? `${Math.round(limitMs / 60_000)} minutes` : `${limitMs / 1_000} s`}: ` +
  'its work is ended, so that nothing runs that nobody can reach. Its results stay on its disk.';
