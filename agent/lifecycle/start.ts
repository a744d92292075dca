// What an agent has to know before it can call home: from a file on the machine of a Temporal worker, from the metadata service
// on a cloud, where it also begins to send its logs.
import { cloudStart } from '../clouds.ts';
import type { Boot } from './boot.ts';
import { readBoot } from './boot.ts';
import type { AgentInput } from './input.ts';
import type { Log } from '../logs/log.ts';
import type { Logs } from '../logs/logs.ts';

export interface Start extends Pick<AgentInput, 'instance' | 'boot' | 'watchNotices'> {
  boot: Boot;
  /** Sends what is not sent yet, for a few seconds at most. */
  flush: () => Promise<void>;
}

export interface StartInput {
  directory: string;
  environment: Record<string, string | undefined>;
  logs: Logs;
  log: Log;
  signal: AbortSignal;
}

export async function start(input: StartInput): Promise<Start> {
  const { directory, environment } = input;
  const cloud = cloudStart(environment);
  if (cloud !== null) return (await cloud())(input);
  const instance = environment['ROPEWALK_INSTANCE'] ?? '';
  return { instance, boot: await readBoot(directory), flush: () => Promise.resolve() };
}
