// A simulated agent of an idle Dask cluster.
import { setTimeout as sleep } from 'node:timers/promises';

import { orders, registerAnswer } from '../../schema/agent.ts';
import type { DaskBundle, ReportRequest } from '../../schema/agent.ts';
import type { Talk } from './http.ts';
import type { Boot } from './provider.ts';

export interface SimulatedDaskAgent {
  register: () => Promise<void>;
  /** Registers unless it has, and reports that its process runs. */
  begin: (read: (json: unknown) => DaskBundle) => Promise<void>;
  /** Holds its poll and reports liveness until the signal aborts. Never rejects. */
  live: () => Promise<void>;
}

export function createDaskAgent(talk: Talk, boot: Boot, signal: AbortSignal): SimulatedDaskAgent {
  const bootId = `boot-of-${boot.instance}`.slice(0, 64);
  const address = '127.0.0.1';
  let token = '';
  let role = 'worker';
  let aliveEveryMs = 180_000;
  const report = (more: Partial<ReportRequest>): Promise<unknown> =>
    talk.call('POST', '/v1/agent/report', token, { kind: 'alive', bootId, address, text: '', ...more });

  const hold = async (): Promise<void> => {
    let seen = 0;
    while (!signal.aborted) {
      const askedAtMs = Date.now();
      const answer = orders.parse(await talk.call('GET', `/v1/agent/orders?seen=${seen}`, token, null));
      if (answer.stop !== null) return;
      if (answer.version <= seen) await sleep(Math.max(0, askedAtMs + 1_000 - Date.now()));
      seen = Math.max(seen, answer.version);
    }
  };
  const breathe = async (): Promise<void> => {
    while (!signal.aborted) {
      await sleep(aliveEveryMs, undefined, { signal });
      await report({});
    }
  };

  const register = async (): Promise<void> => {
    const answer = await talk.call('POST', '/v1/agent/register', boot.launchToken, {
      instance: boot.instance,
      bootId,
      address,
      version: 'bench',
      pid: 1,
      ...(boot.identity === undefined ? {} : { identity: boot.identity }),
    });
    ({ instanceToken: token, role } = registerAnswer.parse(answer));
  };

  return {
    register,
    begin: async (read) => {
      if (token === '') await register();
      aliveEveryMs = read(await talk.call('GET', '/v1/agent/bundle', token, null)).aliveEveryMs;
      const name = role === 'head' ? 'scheduler' : boot.instance;
      const process = { state: 'started', name, stage: 'dask', address: 'tls://127.0.0.1:1', reason: null } as const;
      await report({ process });
      if (role !== 'head') return;
      const tasks = { processing: 0, waiting: 0, memory: 0, erred: 0, noWorker: 0 };
      await report({ scheduler: { tasks, clients: 1, idleForMs: 0, adaptiveTarget: 0, workers: [] } });
    },
    // The end of a bench closes its connections during a poll.
    live: () => Promise.all([hold(), breathe()]).then(nothing, nothing),
  };
}

const nothing = (): void => undefined;
