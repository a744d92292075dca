// A simulated agent: sends a real agent's messages over the real HTTP API, and does nothing in between. Its tasks take no time.
import { exchangeAnswerBody, registerAnswer } from '../../schema/agent.ts';
import type { ExchangeRequest } from '../../schema/agent.ts';
import type { Talk } from './http.ts';
import type { Boot } from './provider.ts';

export interface SimulatedAgent {
  register: () => Promise<void>;
  /** Works until the job has ended, `perRequest` tasks at a time where it may hold so many. */
  work: (perRequest: number) => Promise<Worked>;
}

export interface Worked {
  /** Number of acknowledged results, and the time of the last one by performance.now(). */
  done: number;
  lastAtMs: number;
}

export function createAgent(talk: Talk, boot: Boot, address: string): SimulatedAgent {
  let token = '';
  return {
    register: async () => {
      const answer = await talk.call('POST', '/v1/agent/register', boot.launchToken, {
        instance: boot.instance,
        bootId: `boot-of-${boot.instance}`.slice(0, 64),
        address,
        version: 'bench',
        pid: 1,
      });
      token = registerAnswer.parse(answer).instanceToken;
      await talk.call('GET', '/v1/agent/bundle', token, null);
    },
    work: async (perRequest) => {
      let claim = 0;
      const worked = { done: 0, lastAtMs: 0 };
      let results: ExchangeRequest['results'] = [];
      let addressesSeen: string | undefined;
      let mayHold = 1;
      for (;;) {
        claim += 1;
        const seen = addressesSeen === undefined ? {} : { addressesSeen };
        const body: ExchangeRequest = {
          claim,
          want: Math.min(perRequest, mayHold),
          running: [],
          results,
          head: false,
          ...seen,
        };
        const answer = exchangeAnswerBody.parse(await talk.call('POST', '/v1/agent/exchange', token, body));
        addressesSeen = answer.addresses ?? addressesSeen;
        ({ mayHold } = answer);
        worked.done += answer.acknowledged.length;
        if (answer.acknowledged.length > 0) worked.lastAtMs = performance.now();
        if (answer.stop !== null) return worked;
        const atMs = Date.now();
        results = answer.grants.map(({ lease, task, attempt }) => ({
          lease,
          task,
          attempt,
          exitCode: 0,
          signal: null,
          startedAtMs: atMs,
          endedAtMs: atMs,
          reason: null,
        }));
        if (results.length === 0) await new Promise((resolve) => setTimeout(resolve, answer.retryAfterMs));
      }
    },
  };
}
