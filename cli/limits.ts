// Limits of workspaces and users, as options: how many open jobs and clusters, instances and vCPUs at a time.
import type { Command } from 'commander';

import type { SomeLimits } from '../sdk/client.ts';
import { parseAmount } from './arguments.ts';

export interface LimitFlags {
  running?: number;
  instances?: number;
  vcpus?: number;
}

export function withLimits(command: Command): Command {
  return command
    .option('--running <n>', 'most open jobs and clusters', parseAmount)
    .option('--instances <n>', 'most instances', parseAmount)
    .option('--vcpus <n>', 'most vCPUs', parseAmount);
}

/** Only those that were named. */
export function limitsOf({ running, instances, vcpus }: LimitFlags): SomeLimits {
  return {
    ...(running !== undefined && { running }),
    ...(instances !== undefined && { instances }),
    ...(vcpus !== undefined && { vcpus }),
  };
}
