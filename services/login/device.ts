// Sign-in on a device without typing a token there: the device shows a code, a signed-in person approves it elsewhere, and the device gets a token of
// that person. The token's secret is derived from the device's own code, so it is stored nowhere, and a lost answer can be requested again.
import { RopewalkError } from '../../domain/errors.ts';
import {
  defaultDeviceTokenMs,
  deviceLoginIntervalMs,
  deviceLoginTtlMs,
  maxDeviceTokenMs,
} from '../../domain/people/limits.ts';
import { includes } from '../../domain/people/authority.ts';
import type { Scope } from '../../domain/people/state.ts';
import type { ApprovedLogin, ApproveLoginParsed, CreatedToken, StartedLogin } from '../../schema/people.ts';
import type { DeviceLogin } from '../../store/store.ts';
import { requireScope } from '../auth/scopes.ts';
import { positiveMs } from '../clusters/durations.ts';
import type { Context, Deps } from '../context.ts';
import { time } from '../to-wire.ts';
import { tokenSecretFrom } from '../../platform/token-secret.ts';
import { orRefused } from '../people/rules.ts';
import { toCreated } from '../people/tokens.ts';
import { beginLogin, findByDeviceCode, findByUserCode } from './codes.ts';

export async function startLogin(
  deps: Deps,
  { client, address }: { client: string; address: string | null },
): Promise<StartedLogin> {
  const { begun } = deps.loginRates.begin(address);
  const { key, deviceCode, userCode } = await beginLogin(deps, { client, place: address });
  const crowdedOut = begun(key);
  if (crowdedOut !== null) await deps.store.logins.deleteUndecided(crowdedOut);
  const page = new URL('/login', deps.publicUrl);
  const complete = new URL(page);
  complete.searchParams.set('code', userCode);
  return {
    deviceCode,
    userCode,
    verificationUrl: page.href,
    verificationUrlComplete: complete.href,
    expiresInSeconds: deviceLoginTtlMs / 1000,
    intervalSeconds: deviceLoginIntervalMs / 1000,
  };
}

/** Information for the person's decision. Counts as a wrong guess when no device waits with this code. */
export async function readLogin(context: Context, userCode: string): Promise<{ client: string; place: string | null }> {
  requireScope(context.actor, 'read');
  const { client, place } = (await findWaiting(context, userCode)).login;
  return { client, place };
}

/** The device gets only the scopes and lifetime given here: by default `read` and `write` for 30 days. */
export async function approveLogin(
  context: Context,
  { userCode, approve, scopes, expires }: ApproveLoginParsed,
): Promise<ApprovedLogin> {
  const { deps, actor } = context;
  requireScope(actor, 'read');
  for (const scope of scopes ?? []) requireScope(actor, scope);
  const bounds = { maxMs: maxDeviceTokenMs };
  const lifeMs = expires === undefined ? defaultDeviceTokenMs : positiveMs(expires, 'expires', bounds);
  const found = await findWaiting(context, userCode);
  const { workspace, user, tokenId } = actor;
  const granted = {
    scopes: scopes ?? usualScopes.filter((scope) => includes(actor.scopes, scope)),
    tokenExpiresAtMs: Math.min(deps.now() + lifeMs, actor.expiresAtMs ?? Infinity),
  };
  const decision = approve
    ? { approved: true as const, workspace, user, tokenId, ...granted }
    : ({ approved: false } as const);
  if (!(await deps.store.logins.decide(found.key, decision, deps.now()))) throw unknownCode;
  const { client, place } = found.login;
  if (!approve) return { client, place, approved: false, scopes: [], expiresAt: null };
  return { client, place, approved: true, scopes: granted.scopes, expiresAt: time(granted.tokenExpiresAtMs) };
}

const usualScopes: readonly Scope[] = ['read', 'write'];

async function findWaiting({ deps, actor }: Context, userCode: string): Promise<{ key: string; login: DeviceLogin }> {
  const wasRight = deps.loginRates.guess(`${actor.workspace}/${actor.user}`);
  const found = await findByUserCode(deps, userCode);
  if (found === null || found.login.decision !== null) throw unknownCode;
  wasRight();
  return found;
}

export async function finishLogin(deps: Deps, { deviceCode }: { deviceCode: string }): Promise<CreatedToken> {
  const found = await findByDeviceCode(deps, deviceCode);
  if (found === null) throw expired;
  const { login, secret } = found;
  if (login.decision === null) throw new RopewalkError(pending, { retryAfterMs: deviceLoginIntervalMs });
  if (!login.decision.approved) throw denied;
  const { workspace, user, tokenId, scopes, tokenExpiresAtMs } = login.decision;
  const made = tokenSecretFrom(deps.keys, Buffer.from(secret, 'base64url'));
  const issued = await deps.store.people.issueToken(
    workspace,
    {
      id: made.id,
      secretHash: made.secretHash,
      user,
      name: login.client === '' ? 'device login' : login.client,
      scopes,
      expiresAtMs: tokenExpiresAtMs,
      by: { user, tokenId },
    },
    deps.now(),
  );
  return toCreated(workspace, made, orRefused(issued));
}

const unknownCode = new RopewalkError({
  code: 'NOT_FOUND',
  field: 'userCode',
  message: 'No device waits with this code. Codes are good once, for ten minutes.',
  hint: 'Compare it with what the device shows, or start again there.',
});

const expired = new RopewalkError({
  code: 'EXPIRED',
  message: 'This login has expired, or was never begun.',
  hint: 'Start again: `ropewalk login`.',
});

const pending = {
  code: 'AUTHORIZATION_PENDING',
  message: 'This login is not decided yet.',
  hint: 'Ask again after the time in Retry-After.',
} as const;

const denied = new RopewalkError({
  code: 'FORBIDDEN',
  message: 'This login was denied by the person who was asked.',
  hint: 'Start again if that was a mistake.',
});
