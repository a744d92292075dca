// JSON over kept-alive connections with as little own processor time as possible: this process shares the machine with the
// measured ones. Like an agent it retries temporary refusals, and counts them.
import { Agent, request } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';

import { agentFirstPauseMs, agentMaxPauseMs } from '../../domain/liveness/limits.ts';
import { retryPauseMs } from '../../domain/retry-pause.ts';

export interface Talk {
  call: (method: string, path: string, token: string, body: unknown) => Promise<unknown>;
  /** Milliseconds of each answered call, and the number of retries. */
  stats: { latencies: number[]; again: number };
  close: () => void;
}

/** About ten minutes: a real agent would go on for half an hour. */
const maxTries = 50;

interface Answered {
  status: number;
  text: string;
  retryAfterSeconds: number;
}

/** The pause of a real agent. Shorter ones would make a thousand agents the load of an API that refuses them. */
const pauseMs = ({ retryAfterSeconds }: Answered, tries: number): number =>
  retryPauseMs({
    tries,
    retryAfterMs: Math.min(retryAfterSeconds * 1_000, agentMaxPauseMs - agentFirstPauseMs),
    firstMs: agentFirstPauseMs,
    maxMs: agentMaxPauseMs,
    random: Math.random(),
  });

export function createTalk(apiUrl: string): Talk {
  const { hostname, port } = new URL(apiUrl);
  const agent = new Agent({ keepAlive: true, maxSockets: Number.POSITIVE_INFINITY });
  const stats = { latencies: [] as number[], again: 0 };

  const once = (method: string, path: string, token: string, body: string): Promise<Answered> =>
    new Promise((resolve, reject) => {
      const headers = {
        authorization: `Bearer ${token}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      };
      const sent = request({ hostname, port, method, path, agent, headers }, (answer) => {
        const chunks: Buffer[] = [];
        answer.on('data', (chunk: Buffer) => chunks.push(chunk));
        answer.on('end', () =>
          resolve({
            status: answer.statusCode ?? 0,
            text: Buffer.concat(chunks).toString('utf8'),
            retryAfterSeconds: Number(answer.headers['retry-after'] ?? 0),
          }),
        );
        answer.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(body);
    });

  return {
    stats,
    close: () => agent.destroy(),
    call: async (method, path, token, body) => {
      const text = body === null ? '' : JSON.stringify(body);
      let last = '';
      for (let tries = 1; tries <= maxTries; tries += 1) {
        const askedAtMs = performance.now();
        const answer = await once(method, path, token, text).catch((error: unknown) => ({
          status: 503,
          text: String(error),
          retryAfterSeconds: 0,
        }));
        if (answer.status === 200) {
          stats.latencies.push(performance.now() - askedAtMs);
          return JSON.parse(answer.text);
        }
        if (![408, 409, 425, 429, 503, 504].includes(answer.status)) {
          throw new Error(`${method} ${path}: ${answer.status} ${answer.text.slice(0, 500)}`);
        }
        stats.again += 1;
        last = answer.text.slice(0, 500);
        await sleep(pauseMs(answer, tries));
      }
      throw new Error(`${method} ${path} was refused ${maxTries} times: ${last}`);
    },
  };
}
