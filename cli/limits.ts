// Limits of workspaces and users as options: concurrent open jobs and clusters, instances, and vCPUs.
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
    .option('--running <n>', 'maximum number of open jobs and clusters', parseAmount)
    .option('--instances <n>', 'maximum number of instances', parseAmount)
    .option('--vcpus <n>', 'maximum number of vCPUs', parseAmount);
}

/** Only the given limits. */
export function limitsOf({ running, instances, vcpus }: LimitFlags): SomeLimits {
  return {
    ...(running !== undefined && { running }),
    ...(instances !== undefined && { instances }),
    ...(vcpus !== undefined && { vcpus }),
  };
}
