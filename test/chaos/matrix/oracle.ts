// The oracle's evidence comes from outside the product: the kernel's process table, and the ground's owner of each instance. It
// never queries Temporal, the API or an agent.
import { readFileSync, readdirSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

import type { Ground, Owner } from './ground.ts';

export interface Living extends Owner {
  pid: number;
  instance: string;
  isAgent: boolean;
}

export interface Oracle {
  /** The live processes of a cluster, by a scan that began after the call. */
  living: (cluster: number) => Promise<Living[]>;
  agents: (cluster: number) => Promise<Living[]>;
  stop: () => Promise<void>;
}

const checkEveryMs = 150;

/** Scans continuously; reports two living instances in one slot to `violated` once. */
export function startOracle(ground: Ground, violated: (text: string) => void): Oracle {
  const waiting: ((all: Living[]) => void)[] = [];
  const reported = new Set<string>();
  let isStopping = false;

  async function check(): Promise<void> {
    const answering = waiting.splice(0);
    const all = await scan(ground);
    for (const text of doubles(all).filter((each) => !reported.has(each))) {
      reported.add(text);
      violated(text);
    }
    for (const answer of answering) answer(all);
  }

  const looping = (async (): Promise<void> => {
    for (; !isStopping; await sleep(checkEveryMs)) await check();
    await check();
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

async function scan({ instanceIn, ownersOf }: Ground): Promise<Living[]> {
  const found: Omit<Living, keyof Owner>[] = [];
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    const instance = instanceIn(file(pid, 'environ'));
    if (instance === null) continue;
    // A zombie has an empty command line and runs no more code.
    const command = file(pid, 'cmdline');
    if (command !== '') found.push({ pid: Number(pid), instance, isAgent: /agent[^/]*\.mjs\0/.test(command) });
  }
  const owners = await ownersOf([...new Set(found.map(({ instance }) => instance))]);
  return found.flatMap((process) => {
    const owner = owners.get(process.instance);
    return owner === undefined ? [] : [{ ...process, cluster: owner.cluster, slot: owner.slot }];
  });
}

function file(pid: string, name: string): string {
  try {
    return readFileSync(`/proc/${pid}/${name}`, 'latin1');
  } catch {
    return '';
  }
}
