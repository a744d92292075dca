// The watchdog timer of an agent: ends all its work when the control plane has been silent for too long, so that no instance
// runs forever after the control plane is lost. It only ends this agent; results stay on its disk.
import { defaultWatchdogTimeoutMs } from '../../domain/liveness/limits.ts';
import { heard, startWatchdog, tick, tickMs } from './watchdog.ts';
import type { Clocks } from './watchdog.ts';
import type { Log } from '../logs/log.ts';

export interface RunningWatchdog {
  /** Call when the control plane has answered. */
  heard: () => void;
  /** Sets the cluster's own limit, known after registration. */
  limit: (limitMs: number) => void;
}

export const watchdogCode = 'WATCHDOG';
/** The agent's exit code: the agent itself did not fail. */
export const watchdogExitCode = 3;

export function runWatchdog(stopping: AbortController, log: Pick<Log, 'write'>): RunningWatchdog {
  const { signal } = stopping;
  let state = startWatchdog(defaultWatchdogTimeoutMs, readClocks());
  const look = (): void => {
    const ticked = tick(state, readClocks());
    state = ticked.state;
    if (ticked.verdict === 'slept') log.write('This machine or this agent slept: the watchdog timer starts anew.');
    if (ticked.verdict === 'over') stopping.abort({ code: watchdogCode, text: textOf(state.limitMs) });
  };
  const arm = (): NodeJS.Timeout => setInterval(look, tickMs(state.limitMs)).unref();
  let timer = arm();
  signal.addEventListener('abort', () => clearInterval(timer), { once: true });
  return {
    heard: () => (state = heard(state, readClocks())),
    limit: (limitMs) => {
      if (limitMs === state.limitMs || signal.aborted) return;
      // A new interval: otherwise the last tick would look late.
      clearInterval(timer);
      state = startWatchdog(limitMs, readClocks());
      timer = arm();
    },
  };
}

const readClocks = (): Clocks => ({ monotonicMs: performance.now(), wallMs: Date.now() });

const textOf = (limitMs: number): string =>
  `This agent has had no answer for ${limitMs >= 120_000 ? `${Math.round(limitMs / 60_000)} minutes` : `${limitMs / 1_000} s`}: ` +
  'its work is ended, so that nothing runs beyond the reach of its control plane. Its results stay on its disk.';
