// What is true, from what is not ours to get wrong: the kernel's process table, and the tags that an instance's directory
// got before its agent was started, which stand in for a cloud's ledger. It never asks Temporal, the API or an agent.
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import { read } from '../../support/kills.ts';

export interface Living {
  pid: number;
  instance: string;
  cluster: number;
  slot: number;
  generation: number;
  isAgent: boolean;
}

export interface Oracle {
  /** Everything that lives of a cluster, by a look that began after the call. */
  living: (cluster: number) => Promise<Living[]>;
  agents: (cluster: number) => Promise<Living[]>;
  stop: () => Promise<void>;
}

const lookEveryMs = 150;

/** Looks on and on; two living instances in one slot are told to `violated` whenever they are seen. */
export function startOracle(home: string, violated: (text: string) => void): Oracle {
  const owners = new Map<string, Omit<Living, 'pid' | 'instance' | 'isAgent'>>();
  const waiting: ((all: Living[]) => void)[] = [];
  const told = new Set<string>();
  let isStopping = false;

  function look(): void {
    const answering = waiting.splice(0);
    const all = scan(home, owners);
    for (const text of doubles(all).filter((each) => !told.has(each))) {
      told.add(text);
      violated(text);
    }
    for (const answer of answering) answer(all);
  }

  const looping = (async (): Promise<void> => {
    for (; !isStopping; await sleep(lookEveryMs)) look();
    look();
  })();
  const next = (): Promise<Living[]> => new Promise((resolve) => waiting.push(resolve));
  const living = async (cluster: number): Promise<Living[]> =>
    (await next()).filter((entry) => entry.cluster === cluster);
  return {
    living,
    agents: async (cluster) => (await living(cluster)).filter((entry) => entry.isAgent),
    stop: async () => {
      isStopping = true;
      await looping;
    },
  };
}

export const slotsOf = (agents: Living[]): number[] =>
  [...new Set(agents.map((agent) => agent.slot))].toSorted((a, b) => a - b);

function doubles(all: Living[]): string[] {
  const bySlot = new Map<string, Set<string>>();
  for (const { cluster, slot, instance, isAgent } of all) {
    if (!isAgent) continue;
    const place = `cluster ${cluster}, slot ${slot}`;
    bySlot.set(place, (bySlot.get(place) ?? new Set()).add(instance));
  }
  return [...bySlot]
    .filter(([, instances]) => instances.size > 1)
    .map(([place, instances]) => `${place}: ${[...instances].toSorted().join(' and ')} live at the same time`);
}

function scan(home: string, owners: Map<string, Omit<Living, 'pid' | 'instance' | 'isAgent'>>): Living[] {
  const found: Living[] = [];
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const environment = file(pid, 'environ');
    const instance = /(?:^|\0)ROPEWALK_INSTANCE=([^\0]*)/.exec(environment)?.[1];
    if (instance === undefined) continue;
    const owner = owners.get(instance) ?? read<Living>(join(home, 'instances', instance, 'owner.json'));
    if (owner === null) continue;
    const { cluster, slot, generation } = owner;
    owners.set(instance, { cluster, slot, generation });
    // A zombie has an empty command line, and does nothing any more.
    const command = file(pid, 'cmdline');
    const isAgent = /agent[^/]*\.mjs\0/.test(command);
    if (command !== '') found.push({ pid: Number(pid), instance, cluster, slot, generation, isAgent });
  }
  return found;
}

function file(pid: string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}
