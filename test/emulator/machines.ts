// Process mode: each instance is a real process, started with only the address of its own metadata service and a machine's other
// usual knowledge. When the instance ends, all processes that it started are killed; when its first process ends, the machine has
// shut itself down.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { mkdirSync, openSync, closeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { createFirewall } from './firewall.ts';
import type { FirewallHost } from './firewall.ts';
import { processesOfInstance, scanProcesses, startTimeOf } from '../../providers/local/processes.ts';
import type { ProcessIdentity } from '../../providers/local/processes.ts';
import type { Instance } from './state.ts';
import { fixedRules, stateAt } from './state.ts';
import type { EmulatedAccount } from './account.ts';

export interface MachineOptions {
  /** The boot command: its environment gets AWS_EC2_METADATA_SERVICE_ENDPOINT and ROPEWALK_INSTANCE. */
  command: string[];
  /** Each machine works in a directory of its own below this one. */
  directory: string;
  environment: Record<string, string>;
}

export interface Machines {
  stop(): Promise<void>;
  /** Kills all processes of a machine, as a power failure of its host would. */
  kill(id: string): Promise<void>;
}

const tickMs = 50;
/** How long a shutdown waits for a machine's services. */
const graceMs = 5_000;

export function createMachines(account: EmulatedAccount, url: () => string, options: MachineOptions | null): Machines {
  const running = new Map<string, ChildProcess>();
  /** By pid alone, a machine that ended long ago would be mistaken for a process that has reused its first process's pid. */
  const begun = new Map<string, Promise<string | null>>();

  const boot = (instance: Instance): void => {
    if (options === null || instance.mute || running.has(instance.id)) return;
    const directory = join(options.directory, instance.id);
    mkdirSync(directory, { recursive: true });
    const output = openSync(join(directory, 'console.txt'), 'a');
    const [program = '', ...args] = options.command;
    const child = spawn(program, args, {
      cwd: directory,
      detached: true,
      stdio: ['ignore', output, output],
      env: {
        ...options.environment,
        HOME: directory,
        // Identifies all its processes, as in the local provider.
        ROPEWALK_INSTANCE: instance.id,
        AWS_EC2_METADATA_SERVICE_ENDPOINT: `${url()}/imds/${instance.id}`,
      },
    });
    closeSync(output);
    running.set(instance.id, child);
    if (child.pid !== undefined) begun.set(instance.id, startTimeOf(child.pid));
    child.once('exit', () => {
      if (instance.stop === null) account.end(instance, 'Client.InstanceInitiatedShutdown', 'its first process ended');
    });
    child.once('error', () => account.end(instance, 'Server.InternalError', 'its boot command could not be started'));
  };

  const kill = async (id: string): Promise<void> => {
    const pid = running.get(id)?.pid ?? null;
    const startTime = (await begun.get(id)) ?? null;
    const agent: ProcessIdentity | null = pid === null || startTime === null ? null : { pid, startTime };
    for (;;) {
      const found = processesOfInstance(await scanProcesses(), { id, agent, taskGroup: agent });
      if (found.length === 0) return;
      for (const each of found) {
        try {
          process.kill(each.pid, 'SIGKILL');
        } catch {
          // The machine ended by itself meanwhile.
        }
      }
    }
  };

  /** A machine that shuts down sends SIGTERM to its services first; one whose host dies does not. */
  const shutDown = async (instance: Instance, end: NonNullable<Instance['end']>): Promise<void> => {
    const child = running.get(instance.id);
    if (child === undefined) return;
    end.goneAtMs = Number.POSITIVE_INFINITY;
    if (end.code !== 'Server.InternalError' && child.exitCode === null && child.signalCode === null) {
      const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      child.kill('SIGTERM');
      await Promise.race([exited, sleep(graceMs, undefined, { ref: false })]);
    }
    await kill(instance.id);
    end.goneAtMs = Math.max(account.clock.nowMs(), end.atMs + account.delays.shutdownMs);
  };
  account.hooks.ended = (instance) => {
    if (instance.end !== null) void shutDown(instance, instance.end);
  };
  const firewall = options === null ? null : createFirewall(() => hostsOf(account));
  const timer = setInterval(() => {
    firewall?.apply();
    const nowMs = account.clock.nowMs();
    for (const region of account.regions()) {
      for (const instance of region.instances.values()) {
        if (instance.interruption !== null && nowMs >= instance.interruption.atMs) {
          account.end(instance, 'Server.SpotInstanceTermination', 'spot interruption');
        }
        if (stateAt(instance, nowMs) === 'running') boot(instance);
      }
    }
  }, tickMs);

  return {
    kill,
    async stop() {
      clearInterval(timer);
      firewall?.close();
      for (const id of running.keys()) await kill(id);
    },
  };
}

/** Running instances, with the current rules of each security group. */
const hostsOf = (account: EmulatedAccount): FirewallHost[] =>
  account.regions().flatMap(({ instances, groups }) =>
    [...instances.values()]
      .filter((instance) => stateAt(instance, account.clock.nowMs()) === 'running')
      .map(({ privateIp, publicIp, data }) => {
        const rules = data.securityGroups.flatMap((id) => fixedRules[id] ?? groups.get(id)?.rules ?? []);
        return { privateIp, publicIp, rules };
      }),
  );
