// Process mode: each instance is a real process, started with only the address of its metadata server and a machine's other usual
// knowledge. When an instance ends, all processes that it started end too.
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { closeSync, mkdirSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { processesOfInstance, scanProcesses, startTimeOf } from '../../../providers/local/processes.ts';
import { createFirewall } from '../firewall.ts';
import type { MachineOptions } from '../machines.ts';
import type { Signer } from './identity.ts';
import { serveMetadata } from './metadata.ts';
import type { MetadataServer } from './metadata.ts';
import { isLive, statusAt } from './state.ts';
import type { Instance } from './state.ts';
import type { EmulatedProject } from './project.ts';

export interface Machines {
  stop(): Promise<void>;
}

interface Machine {
  child: ChildProcess;
  startTime: Promise<string | null>;
  metadata: MetadataServer;
}

const tickMs = 50;
/** How long a shutdown waits for a machine's services. */
const graceMs = 5_000;

/** `url` of the API, for an agent's calls besides its metadata server. */
export function createMachines(
  project: EmulatedProject,
  signer: Signer,
  url: () => string,
  options: MachineOptions | null,
): Machines {
  const running = new Map<string, Machine>();
  const booting = new Set<string>();

  const boot = async (instance: Instance, of: MachineOptions): Promise<void> => {
    const metadata = await serveMetadata(project, signer, instance);
    const directory = join(of.directory, instance.name);
    mkdirSync(directory, { recursive: true });
    const output = openSync(join(directory, 'console.txt'), 'a');
    const [program = '', ...args] = of.command;
    const child = spawn(program, args, {
      cwd: directory,
      detached: true,
      stdio: ['ignore', output, output],
      env: {
        ...of.environment,
        HOME: directory,
        ROPEWALK_INSTANCE: instance.name,
        GCE_METADATA_HOST: metadata.host,
        CLOUDSDK_API_ENDPOINT_OVERRIDES_LOGGING: url(),
      },
    });
    closeSync(output);
    const startTime = child.pid === undefined ? Promise.resolve(null) : startTimeOf(child.pid);
    running.set(instance.numericId, { child, startTime, metadata });
    // A machine that shuts itself down is off, and exists until it is deleted.
    child.once('exit', () => project.halt(instance, 'compute.instances.guestTerminate'));
    child.once('error', () => project.halt(instance, 'compute.instances.hostError'));
  };

  const kill = async (instance: Instance): Promise<void> => {
    const machine = running.get(instance.numericId);
    const pid = machine?.child.pid ?? null;
    const startTime = (await machine?.startTime) ?? null;
    const agent = pid === null || startTime === null ? null : { pid, startTime };
    for (;;) {
      const found = processesOfInstance(await scanProcesses(), { id: instance.name, agent, taskGroup: agent });
      if (found.length === 0) break;
      for (const each of found) {
        try {
          process.kill(each.pid, 'SIGKILL');
        } catch {
          // The machine ended by itself meanwhile.
        }
      }
    }
    machine?.metadata.close();
  };

  project.onEnd = (instance, how) => void shutDown(instance, how);
  const shutDown = async (instance: Instance, how: 'orderly' | 'crash'): Promise<void> => {
    const child = running.get(instance.numericId)?.child;
    if (child === undefined) return;
    instance.isEnding = true;
    if (how === 'orderly' && child.exitCode === null && child.signalCode === null) {
      const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
      child.kill('SIGTERM');
      await Promise.race([exited, sleep(graceMs, undefined, { ref: false })]);
    }
    await kill(instance);
    instance.isEnding = false;
  };

  const hosts = () =>
    project.instances
      .filter((instance) => statusAt(instance, project.clock.nowMs()) === 'RUNNING')
      .map(({ privateIp, publicIp, networkTags }) => ({ privateIp, publicIp, rules: rulesFor(project, networkTags) }));
  const firewall = options === null ? null : createFirewall(hosts);
  const timer = setInterval(() => {
    firewall?.apply();
    const nowMs = project.clock.nowMs();
    for (const instance of project.instances) {
      if (!isLive(instance, nowMs)) continue;
      if (instance.preemption !== null && nowMs >= instance.preemption.atMs)
        project.remove(instance, 'compute.instances.preempted');
      const { maxRunSeconds, createdAtMs } = instance;
      if (maxRunSeconds !== null && nowMs >= createdAtMs + maxRunSeconds * 1_000)
        project.remove(instance, 'compute.instances.terminateOnMaxRunDuration');
      const mayBoot = options !== null && !instance.mute && !booting.has(instance.numericId);
      if (mayBoot && statusAt(instance, nowMs) === 'RUNNING') {
        booting.add(instance.numericId);
        void boot(instance, options);
      }
    }
  }, tickMs);

  return {
    async stop() {
      clearInterval(timer);
      firewall?.close();
      for (const instance of project.instances) if (running.has(instance.numericId)) await kill(instance);
    },
  };
}

/** `tcp PORT RANGE` of every rule that targets one of these tags. */
const rulesFor = (project: EmulatedProject, tags: readonly string[]): string[] => {
  const own = [...project.firewalls.values()].filter(({ targetTags }) => targetTags.some((tag) => tags.includes(tag)));
  const fixed = tags.includes('ropewalk-scheduler') ? ['tcp 8786 0.0.0.0/0'] : [];
  return [
    ...fixed,
    ...own.flatMap(({ ports, sourceRanges }) =>
      ports.flatMap((port) => sourceRanges.map((range) => `tcp ${port} ${range}`)),
    ),
  ];
};
