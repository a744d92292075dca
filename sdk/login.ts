// Signing in without a token: this side shows a code, somebody who is signed in approves it, and a token comes back.
// The device code is a secret like a token: it leaves this file only towards the API.
import type { CreatedToken, StartedLogin } from '../schema/people.ts';
import type { ConnectionOptions } from './connection.ts';
import { resolveAnonymousConnection } from './connection.ts';
import { isOutage, RopewalkApiError } from './errors.ts';
import { createRequest, requestJson } from './request.ts';
import { sleep } from './sleep.ts';

export type LoginCode = Omit<StartedLogin, 'deviceCode'>;

export interface LoginOptions extends Omit<ConnectionOptions, 'token'> {
  /** What whoever approves is told, e.g. `ropewalk CLI on laptop`. */
  client?: string;
  /** Called once, with what to show: the code, and where it can be approved. */
  onCode: (code: LoginCode) => void;
  /** Called when the API could not be asked and will be asked again. */
  onUnreachable?: (error: RopewalkApiError) => void;
  signal?: AbortSignal;
}

/**
 * Resolves with a token of whoever approved. Throws PermissionError when it was denied, ConflictError (`EXPIRED`) when
 * nobody decided in time, and the signal's reason.
 */
export async function login(options: LoginOptions): Promise<CreatedToken> {
  const { apiUrl, fetch, client = '', onCode, onUnreachable, signal } = options;
  const request = createRequest(resolveAnonymousConnection({ apiUrl, fetch }));
  const begin = { method: 'POST', path: '/v1/login/device', body: { client }, signal } as const;
  const { deviceCode, ...code } = await requestJson<StartedLogin>(request, begin);
  onCode(code);
  for (;;) {
    const finish = { method: 'POST', path: '/v1/login/device/token', body: { deviceCode }, signal } as const;
    const answer = await requestJson<CreatedToken>(request, finish).catch((error: unknown) => {
      if (error instanceof RopewalkApiError && error.code === 'AUTHORIZATION_PENDING') return error;
      if (!isOutage(error)) throw error;
      onUnreachable?.(error);
      return error;
    });
    if (!(answer instanceof RopewalkApiError)) return answer;
    await sleep(answer.retryAfterMs ?? code.intervalSeconds * 1_000, signal);
  }
}
