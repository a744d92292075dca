// An agent of a long run: calls the real API as a real one does, waits for its tasks' duration, and can be killed in the middle
// of one, after which it is silent.
import { setTimeout as sleep } from 'node:timers/promises';

import { aliveEveryMs } from '../../domain/liveness/limits.ts';
import type { Talk } from '../../bench/sim/http.ts';
import type { Boot } from '../../bench/sim/provider.ts';
import { exchangeAnswerBody, registerAnswer } from '../../schema/agent.ts';
import type { ExchangeAnswerBody, ExchangeRequest } from '../../schema/agent.ts';

export interface SoakAgent {
  instance: string;
  /** Returns when its job has ended, or it was killed. */
  live: () => Promise<void>;
  /** True when it held a task. */
  kill: () => boolean;
  isDead: () => boolean;
}

export interface SoakHooks {
  taskMs: (task: number) => number;
  /** Called when a run has begun; it may kill its agent. */
  began: (task: number, attempt: number, agent: SoakAgent) => void;
  /** Its duration, and whether it ran to its end. */
  ran: (task: number, ms: number, isWhole: boolean) => void;
}

export function createSoakAgent(talk: Talk, boot: Boot, address: string, hooks: SoakHooks): SoakAgent {
  let isDead = false;
  let holds = false;
  let token = '';
  const agent: SoakAgent = {
    instance: boot.instance,
    live: async () => {
      const who = { bootId: `boot-of-${boot.instance}`.slice(0, 64), address };
      const answer = await talk.call('POST', '/v1/agent/register', boot.launchToken, {
        ...who,
        instance: boot.instance,
        version: 'soak',
        pid: 1,
      });
      token = registerAnswer.parse(answer).instanceToken;
      // An agent without results still reports: one that is silent for long has hung.
      const speaking = setInterval(() => {
        if (!isDead)
          void talk.call('POST', '/v1/agent/report', token, { ...who, kind: 'alive', text: '' }).catch(() => null);
      }, aliveEveryMs);
      await work().finally(() => clearInterval(speaking));
    },
    kill: () => {
      isDead = true;
      return holds;
    },
    isDead: () => isDead,
  };

  const exchange = async (body: ExchangeRequest): Promise<ExchangeAnswerBody> => {
    const answer = exchangeAnswerBody.parse(await talk.call('POST', '/v1/agent/exchange', token, body));
    if (answer.token !== null) token = answer.token.instanceToken;
    return answer;
  };

  async function work(): Promise<void> {
    let results: ExchangeRequest['results'] = [];
    for (let claim = 1; !isDead; claim += 1) {
      const answer = await exchange({ claim, want: 1, running: [], results, head: false });
      results = [];
      if (answer.stop !== null) return;
      const [grant] = answer.grants;
      if (grant === undefined) {
        await sleep(answer.retryAfterMs);
        continue;
      }
      const { lease, task, attempt } = grant;
      holds = true;
      const startedAtMs = Date.now();
      hooks.began(task, attempt, agent);
      const isWhole = await spend(claim, lease, hooks.taskMs(task), answer.renewWithinMs);
      holds = false;
      hooks.ran(task, Date.now() - startedAtMs, isWhole);
      const outcome = { exitCode: 0, signal: null, startedAtMs, endedAtMs: Date.now(), reason: null };
      if (isWhole) results = [{ lease, task, attempt, ...outcome }];
    }
  }

  /** False when it was killed meanwhile, or had to drop the task. */
  async function spend(claim: number, lease: number, ms: number, renewWithinMs: number): Promise<boolean> {
    for (let leftMs = ms; leftMs > 0 && !isDead; leftMs -= renewWithinMs) {
      await sleep(Math.min(leftMs, renewWithinMs));
      if (isDead || leftMs <= renewWithinMs) break;
      const answer = await exchange({ claim, want: 0, running: [lease], results: [], head: false });
      if (answer.stop !== null || answer.drop.includes(lease)) return false;
    }
    return !isDead;
  }

  return agent;
}
