// When this replica last heard each agent. Agents send thousands of requests a minute, so only memory is updated here; round.ts writes batches to the
// database.
import { hear, interrupt, isForgettable, isNoteDue, type Streak } from '../../domain/liveness/streak.ts';
import type { Clocks } from '../../domain/liveness/listening.ts';
import type { HeardAgent } from '../../store/liveness-port.ts';

export interface HeardAgents {
  /** `silentAfterMs`: the silence after which the agent is suspected, where the caller knows it. */
  touch(cluster: number, instance: string, silentAfterMs?: number): void;
  /** The agent sent a report that did not reach its cluster. */
  interrupt(cluster: number, instance: string): void;
  /** The entries to write to the database, and a function to call after the write. */
  takeDue(): { items: HeardAgent[]; noted: () => void };
  /** Sets the silence limit of an agent from the database. */
  learn(cluster: number, instance: string, silentAfterMs: number): void;
}

export function createHeardAgents(clocks: () => Clocks): HeardAgents {
  const agents = new Map<string, { cluster: number; instance: string; streak: Streak }>();
  const keyOf = (cluster: number, instance: string): string => `${cluster}/${instance}`;
  return {
    touch(cluster, instance, silentAfterMs) {
      const key = keyOf(cluster, instance);
      const streak = hear(agents.get(key)?.streak, clocks().monotonicMs, silentAfterMs ?? null);
      agents.set(key, { cluster, instance, streak });
    },
    interrupt(cluster, instance) {
      const key = keyOf(cluster, instance);
      const streak = interrupt(agents.get(key)?.streak, clocks().monotonicMs);
      agents.set(key, { cluster, instance, streak });
    },
    takeDue() {
      const { monotonicMs, wallMs } = clocks();
      const onWall = (ms: number): number => Math.round(wallMs - monotonicMs + ms);
      const due: [string, number][] = [];
      const items: HeardAgent[] = [];
      for (const [key, { cluster, instance, streak }] of agents) {
        if (isForgettable(streak, monotonicMs)) agents.delete(key);
        if (!isNoteDue(streak, monotonicMs)) continue;
        due.push([key, streak.heardMs]);
        const { heardMs, sinceMs, silentAfterMs } = streak;
        items.push({ cluster, instance, heardAtMs: onWall(heardMs), sinceMs: onWall(sinceMs), silentAfterMs });
      }
      const noted = (): void => {
        for (const [key, heardMs] of due) {
          const agent = agents.get(key);
          if (agent !== undefined) agent.streak = { ...agent.streak, notedMs: heardMs };
        }
      };
      return { items, noted };
    },
    learn(cluster, instance, silentAfterMs) {
      const agent = agents.get(keyOf(cluster, instance));
      if (agent !== undefined) agent.streak = { ...agent.streak, silentAfterMs };
    },
  };
}
