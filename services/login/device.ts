// Signing in on a device without typing a token there: the device shows a code, a signed-in person approves it elsewhere, and
// the device gets a token of that person. The token's secret is derived from the device's own code: it is stored nowhere, and
// a lost answer can be asked for again.
import { RopewalkError } from '../../domain/errors.ts';
import { deviceLoginIntervalMs, deviceLoginTtlMs } from '../../domain/limits.ts';
import type { ApprovedLogin, CreatedToken, StartedLogin } from '../../schema/people.ts';
import { requireScope } from '../auth/scopes.ts';
import type { Context, Deps } from '../context.ts';
import { tokenSecretFrom } from '../../platform/token-secret.ts';
import { orRefused } from '../people/rules.ts';
import { toCreated } from '../people/tokens.ts';
import { beginLogin, findByDeviceCode, findByUserCode } from './codes.ts';

export async function startLogin(
  deps: Deps,
  { client, address }: { client: string; address: string | null },
): Promise<StartedLogin> {
  const { begun } = deps.loginRates.begin(address);
  const { key, deviceCode, userCode } = await beginLogin(deps, client);
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

export async function approveLogin(
  { deps, actor }: Context,
  { userCode, approve }: { userCode: string; approve: boolean },
): Promise<ApprovedLogin> {
  requireScope(actor, 'read');
  const person = `${actor.workspace}/${actor.user}`;
  const wasRight = deps.loginRates.guess(person);
  const found = await findByUserCode(deps, userCode);
  if (found === null || found.login.decision !== null) throw unknownCode;
  wasRight();
  const { workspace, user, tokenId } = actor;
  const decision = approve ? ({ approved: true, workspace, user, tokenId } as const) : ({ approved: false } as const);
  if (!(await deps.store.logins.decide(found.key, decision, deps.now()))) throw unknownCode;
  return { client: found.login.client, approved: approve };
}

export async function finishLogin(deps: Deps, { deviceCode }: { deviceCode: string }): Promise<CreatedToken> {
  const found = await findByDeviceCode(deps, deviceCode);
  if (found === null) throw expired;
  const { login, secret } = found;
  if (login.decision === null) throw new RopewalkError(pending, { retryAfterMs: deviceLoginIntervalMs });
  if (!login.decision.approved) throw denied;
  const { workspace, user, tokenId } = login.decision;
  const made = tokenSecretFrom(deps.keys, Buffer.from(secret, 'base64url'));
  const issued = await deps.store.people.issueToken(
    workspace,
    {
      id: made.id,
      secretHash: made.secretHash,
      user,
      name: login.client === '' ? 'device login' : login.client,
      scopes: null,
      expiresAtMs: null,
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
  message: 'Nobody has decided about this login yet.',
  hint: 'Ask again after the time in Retry-After.',
} as const;

const denied = new RopewalkError({
  code: 'FORBIDDEN',
  message: 'This login was denied by the person who was asked.',
  hint: 'Start again if that was a mistake.',
});
