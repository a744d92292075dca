// The agent's standing with the API: registers with the launch token, holds the instance token, registers again when
// that is refused, with the launch token or, when that is too old by now, with what it held. Everything that ends the
// agent's right to work becomes one stop order here.
import { setTimeout as sleep } from 'node:timers/promises';

import { registerAnswer } from '../../schema/agent.ts';
import type { RegisterAnswer } from '../../schema/agent.ts';
import type { ApiClient, ApiRequest, Reply } from './client.ts';
import type { Boot } from '../lifecycle/boot.ts';
import type { Log } from '../logs/log.ts';
import { orderOf } from '../lifecycle/stop-order.ts';
import type { StopOrder } from '../lifecycle/stop-order.ts';

export const agentVersion = '0.1.0';

export interface Session {
  /** null when the agent has been told to stop instead. */
  register(): Promise<RegisterAnswer | null>;
  /** What the last registration said. */
  registered(): RegisterAnswer;
  /** null when the agent has been told to stop instead of getting an answer. */
  call<T>(request: SessionRequest<T>): Promise<T | null>;
  renew(token: { instanceToken: string } | null): void;
  /** The instance token as it is now. */
  token(): string;
  order(): StopOrder;
}

export interface SessionRequest<T> extends Omit<ApiRequest<T>, 'token'> {
  /**
   * Called when the API, or a proxy before it, does not take what was said, before the body is made anew and sent after a
   * pause. Returns what has been given up, for the log, if anything. Without it a refusal ends the agent.
   */
  onRefused?: () => string | null;
}

interface SessionInput {
  client: ApiClient;
  instance: string;
  bootId: string;
  boot: Boot;
  log: Log;
  stopping: AbortController;
}

/** Between registrations that succeed and tokens that are refused all the same. */
const refusedTokenPauseMs = 1_000;
const firstRefusedPauseMs = 1_000;
const maxRefusedPauseMs = 30_000;

export function createSession({ client, instance, bootId, boot, log, stopping }: SessionInput): Session {
  let answer: RegisterAnswer | null = null;
  let token = '';
  const fail = (code: string, text: string, failed: boolean): null => {
    if (!stopping.signal.aborted) stopping.abort({ code, text, failed });
    return null;
  };
  const body = {
    ...{ instance, bootId, address: boot.address, version: agentVersion, pid: process.pid },
    ...(boot.identity === undefined ? {} : { identity: boot.identity }),
  };
  const registerWith = (shown: string): Promise<Reply<RegisterAnswer> | null> =>
    orNull(
      client.call({
        method: 'POST',
        path: '/v1/agent/register',
        body: () => ({ ...body, ...upFor(boot) }),
        token: () => shown,
        parse: (json) => registerAnswer.parse(json),
      }),
    );
  const register = async (): Promise<RegisterAnswer | null> => {
    const held = token;
    let reply = await registerWith(boot.launchToken);
    // A machine that slept for long holds nothing else: both tokens have expired by the clock.
    if (reply?.kind === 'unauthenticated' && held !== '') reply = await registerWith(held);
    if (reply === null) return null;
    if (reply.kind === 'over') return fail('OVER', `The API has no place for this instance: ${reply.text}`, false);
    if (reply.kind === 'refused') return fail('REFUSED', `The API refused to register: ${reply.text}`, true);
    if (reply.kind === 'unauthenticated') return fail('REFUSED', 'The API did not accept the launch token.', true);
    answer = reply.answer;
    token = reply.answer.instanceToken;
    return answer;
  };
  const pause = (ms: number): Promise<void> => sleep(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
  const call = async <T>({ onRefused, ...request }: SessionRequest<T>): Promise<T | null> => {
    for (let refusals = 0; ;) {
      const used = token;
      const reply = await orNull(client.call({ ...request, token: () => used }));
      if (reply === null) return null;
      if (reply.kind === 'answer') return reply.answer;
      if (reply.kind === 'over') return fail('OVER', `There is nothing more to do here: ${reply.text}`, false);
      if (reply.kind === 'refused') {
        if (onRefused === undefined) return fail('REFUSED', `The API refused a message: ${reply.text}`, true);
        if (refusals === 0) log.write(`A message was refused, and is tried in other forms: ${reply.text}`);
        const givenUp = onRefused();
        if (givenUp !== null) log.write(`${givenUp} The last answer: ${reply.text}`);
        await pause(Math.min(maxRefusedPauseMs, firstRefusedPauseMs * 2 ** Math.min(refusals, 10)));
        refusals += 1;
        continue;
      }
      // Another call may have renewed the token meanwhile; then only the call is repeated.
      if (used !== token) continue;
      log.write('The instance token is no longer accepted: registering again.');
      if ((await register()) === null) return null;
      await pause(refusedTokenPauseMs);
    }
  };
  return {
    register,
    registered: () => {
      if (answer === null) throw new Error('the agent has not registered yet');
      return answer;
    },
    call,
    token: () => token,
    renew: (renewed) => (token = renewed?.instanceToken ?? token),
    order: () => orderOf(stopping.signal),
  };
}

const upFor = ({ upSinceMs }: Boot): { upForMs?: number } =>
  upSinceMs === undefined ? {} : { upForMs: Math.max(0, Math.round(Date.now() - upSinceMs)) };

/** A call rejects only because the agent is being stopped. */
const orNull = <T>(call: Promise<T>): Promise<T | null> => call.catch(() => null);
