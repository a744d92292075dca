// An agent's input before and after its start; the same on each cloud and on a host.
import type { Log } from '../logs/log.ts';
import type { Logs } from '../logs/logs.ts';
import type { Boot } from './boot.ts';
import type { AgentInput } from './input.ts';

export interface Start extends Pick<AgentInput, 'instance' | 'boot' | 'watchNotices' | 'registryLogin'> {
  boot: Boot;
  /** Sends unsent lines, for a few seconds at most. */
  flush: () => Promise<void>;
}

export interface StartInput {
  directory: string;
  environment: Record<string, string | undefined>;
  logs: Logs;
  log: Log;
  signal: AbortSignal;
}
