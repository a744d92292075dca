// When this replica last heard each agent. Agents speak thousands of times a minute: only memory is touched here, and the
// database learns of it in batches (round.ts).
import { hear, interrupt, isForgettable, isNoteDue, type Streak } from '../../domain/liveness/streak.ts';
import type { Clocks } from '../../domain/liveness/listening.ts';
import type { HeardAgent } from '../../store/liveness-port.ts';

export interface HeardAgents {
  /** `silentAfterMs`: after which silence it is suspected, where the caller knows. */
  touch(cluster: number, instance: string, silentAfterMs?: number): void;
  /** It has spoken, and its cluster did not get the message. */
  interrupt(cluster: number, instance: string): void;
  /** What the database must learn, with a function to call when it has. */
  takeDue(): { items: HeardAgent[]; noted: () => void };
  /** The silent period of an agent, as the database has it. */
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
