// Device login: the program shows a code, a signed-in user approves it, and the API returns a token.
// The device code is a secret like a token: it is sent to the API only.
import type { CreatedToken, StartedLogin } from '../schema/people.ts';
import type { ConnectionOptions } from './connection.ts';
import { resolveAnonymousConnection } from './connection.ts';
import { isOutage, RopewalkApiError } from './errors.ts';
import { createRequest, requestJson } from './request.ts';
import { sleep } from './sleep.ts';

export type LoginCode = Omit<StartedLogin, 'deviceCode'>;

export interface LoginOptions extends Omit<ConnectionOptions, 'token'> {
  /** Shown to the user who approves, e.g. `ropewalk CLI on laptop`. */
  client?: string;
  /** Called once, with the code and the address where it is approved. */
  onCode: (code: LoginCode) => void;
  /** Called when a request failed and will be repeated. */
  onUnreachable?: (error: RopewalkApiError) => void;
  signal?: AbortSignal;
}

/**
 * Resolves with a token of the user who approved. Throws PermissionError when the login was denied, ConflictError (`EXPIRED`)
 * when the code expired, and the signal's reason.
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
