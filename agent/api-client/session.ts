// The agent's session with the API. It registers with the launch token and gets the instance token. When that is refused it
// registers again: with the launch token or, when that has expired too, with the instance token. Everything that ends the
// agent's right to work becomes one stop order here.
import { setTimeout as sleep } from 'node:timers/promises';

import { jsonBy } from './client.ts';
import { registerAnswer } from '../../schema/agent.ts';
import type { RegisterAnswer } from '../../schema/agent.ts';
import type { Boot } from '../lifecycle/boot.ts';
import { orderOf } from '../lifecycle/stop-order.ts';
import type { StopOrder } from '../lifecycle/stop-order.ts';
import type { Log } from '../logs/log.ts';
import type { ApiClient, ApiRequest, Reply } from './client.ts';

export const agentVersion = '0.1.0';

export interface Session {
  /** Null when the agent is stopped before the answer. */
  register(): Promise<RegisterAnswer | null>;
  /** The answer to the last registration. */
  registered(): RegisterAnswer;
  /** Null when the agent is stopped, or the request's signal aborts, before the answer. */
  call<T>(request: SessionRequest<T>): Promise<T | null>;
  renew(token: { instanceToken: string } | null): void;
  /** The current instance token. */
  token(): string;
  order(): StopOrder;
}

export interface SessionRequest<T> extends Omit<ApiRequest<T>, 'token'> {
  /**
   * Called when the request is refused for its content; afterwards the body is composed again and sent after a pause. `isOurs`
   * is false when a proxy may have refused it: then nothing may be dropped. Returns a log line about dropped content, if any.
   * Without this function a refusal by the API ends the agent.
   */
  onRefused?: (isOurs: boolean) => string | null;
}

interface SessionInput {
  client: ApiClient;
  instance: string;
  bootId: string;
  boot: Boot;
  log: Log;
  stopping: AbortController;
}

/** The pause when registrations succeed and their tokens are still refused. */
const refusedTokenPauseMs = 1_000;
const firstRefusedPauseMs = 1_000;
const maxRefusedPauseMs = 30_000;

export function createSession({ client, instance, bootId, boot, log, stopping }: SessionInput): Session {
  const { signal } = stopping;
  let answer: RegisterAnswer | null = null;
  let token = '';
  const fail = (code: string, text: string, failed: boolean): null => {
    if (!signal.aborted) stopping.abort({ code, text, failed });
    return null;
  };
  const pauseAfter = (refusals: number): Promise<void> => {
    const pauseMs = Math.min(maxRefusedPauseMs, firstRefusedPauseMs * 2 ** Math.min(refusals, 10));
    return sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  };
  const body = {
    ...{ instance, bootId, address: boot.address, version: agentVersion, pid: process.pid },
    ...(boot.identity === undefined ? {} : { identity: boot.identity }),
    ...((boot.publicAddress ?? null) === null ? {} : { publicAddress: boot.publicAddress }),
    ...((boot.hostname ?? null) === null ? {} : { hostname: boot.hostname }),
  };
  const registerWith = async (shown: string): Promise<Reply<RegisterAnswer> | null> => {
    for (let refusals = 0; ; refusals += 1) {
      const reply = await orNull(
        client.call({
          method: 'POST',
          path: '/v1/agent/register',
          body: () => ({ ...body, ...upFor(boot) }),
          token: () => shown,
          read: jsonBy((json) => registerAnswer.parse(json)),
        }),
      );
      if (reply?.kind !== 'refused' || reply.isOurs) return reply;
      await pauseAfter(refusals);
    }
  };
  const register = async (): Promise<RegisterAnswer | null> => {
    const held = token;
    let reply = await registerWith(boot.launchToken);
    // After a long sleep of the machine, both tokens have expired and the instance token is the only proof left.
    if (reply?.kind === 'unauthenticated' && held !== '') reply = await registerWith(held);
    if (reply === null) return null;
    if (reply.kind === 'ended') return fail('OVER', `The API does not accept this instance: ${reply.text}`, false);
    if (reply.kind === 'refused') return fail('REFUSED', `The API refused to register: ${reply.text}`, true);
    if (reply.kind === 'unauthenticated') return fail('REFUSED', 'The API did not accept the launch token.', true);
    answer = reply.answer;
    token = reply.answer.instanceToken;
    return answer;
  };
  const call = async <T>({ onRefused, ...request }: SessionRequest<T>): Promise<T | null> => {
    for (let refusals = 0; ;) {
      const used = token;
      const reply = await orNull(client.call({ ...request, token: () => used }));
      if (reply === null) return null;
      if (reply.kind === 'answer') return reply.answer;
      if (reply.kind === 'ended') return fail('OVER', `This instance has nothing more to do: ${reply.text}`, false);
      if (reply.kind === 'refused') {
        const { text, isOurs } = reply;
        if (onRefused === undefined && isOurs) return fail('REFUSED', `The API refused a message: ${text}`, true);
        if (refusals === 0) log.write(`A message was refused; trying again: ${text}`);
        const givenUp = onRefused?.(isOurs) ?? null;
        if (givenUp !== null) log.write(`${givenUp} The last answer: ${text}`);
        await pauseAfter(refusals);
        refusals += 1;
        continue;
      }
      // Another call may have renewed the token meanwhile; then only this call is repeated.
      if (used !== token) continue;
      log.write('The instance token is no longer accepted: registering again.');
      if ((await register()) === null) return null;
      await sleep(refusedTokenPauseMs, undefined, { signal }).catch(() => undefined);
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
    order: () => orderOf(signal),
  };
}

const upFor = ({ upForMs }: Boot): { upForMs?: number } => (upForMs === undefined ? {} : { upForMs: upForMs() });

/** A call rejects only because the agent is being stopped, or the request was abandoned. */
const orNull = <T>(call: Promise<T>): Promise<T | null> => call.catch(() => null);
