// Sign-in by a link in an e-mail. The link works once, in the browser that requested it: that browser holds a second secret, sealed with the purpose of
// the sign-in, and the database keyed hashes of both.
import { createHmac, randomBytes } from 'node:crypto';

import { RopewalkError } from '../../domain/errors.ts';
import { mailHourOf } from '../../domain/notifications/mail.ts';
import { mailLinkTtlMs, maxMailLinks, maxMailLinksOfAddress } from '../../domain/people/limits.ts';
import { addressOf, linkEnded, linkMail, noAddress, otherBrowser } from '../../domain/people/mail-link.ts';
import { refuseDomain } from '../../domain/people/sign-in.ts';
import { tokenSecretFrom } from '../../platform/token-secret.ts';
import type { Deps } from '../context.ts';
import { orRefused } from '../people/rules.ts';
import { time } from '../to-wire.ts';
import { handOver, type Session, type SignInPurpose } from './sign-in.ts';
import type { MailSignInSettings } from './sign-in-settings.ts';

export const linkPath = '/login/mail/link';
/** The lifetime of a link. */
export const linkSeconds = mailLinkTtlMs / 1_000;

/**
 * Returns the sealed data that the browser keeps for `finishLink`. The same for every address: the database and the mail server are asked after the
 * answer. `place`: the network address of the requester.
 */
export async function requestLink(
  deps: Deps,
  { address: text, purpose, place }: { address: string; purpose: SignInPurpose; place: string | null },
): Promise<{ sealed: string }> {
  const settings = configured(deps);
  const address = addressOf(text);
  if (address === null) throw new RopewalkError(noAddress);
  deps.loginRates.requestLink(place, address);
  const browser = newSecret();
  const sealed = await deps.sealedTexts.seal('mail-link', { browser, purpose }, mailLinkTtlMs);
  deps.linkMails.add(() => sendLink(deps, settings, { address, browser, place }));
  return { sealed };
}

async function sendLink(
  deps: Deps,
  { mailer }: MailSignInSettings,
  { address, browser, place }: { address: string; browser: string; place: string | null },
): Promise<void> {
  const { store, logger, publicUrl, signIn } = deps;
  // The operator's domains hold for every sign-in.
  if (refuseDomain(address, signIn?.domains ?? null) !== null) return;
  const nowMs = deps.now();
  const secret = newSecret();
  const item = {
    ...{ address, linkHash: hash(deps, 'link', secret), browserHash: hash(deps, 'browser', browser) },
    ...{ expiresAtMs: nowMs + mailLinkTtlMs, hour: mailHourOf(nowMs) },
    ...{ maxOfAddress: maxMailLinksOfAddress, maxOfAll: maxMailLinks },
  };
  const begun = await store.mailLinks.begin(item, nowMs);
  if (begun === 'too-many') logger.warn('a link to sign in was not sent: this hour has reached a maximum');
  if (begun !== 'begun') return;
  const link = new URL(linkPath, publicUrl);
  // Browsers never send a fragment to a server.
  link.hash = secret;
  const site = new URL(publicUrl).origin;
  const times = { at: time(nowMs), until: time(item.expiresAtMs) };
  const messageId = `sign-in.${randomBytes(12).toString('hex')}`;
  const mail = linkMail({ site, link: link.href, address, place, ...times });
  const { error } = await mailer.send({ to: address, messageId, ...mail });
  if (error === null) logger.info('a link to sign in was sent');
  else logger.warn({ why: error }, 'a link to sign in could not be sent');
}

export interface FinishedLink {
  purpose: SignInPurpose;
  /** The session, or the workspaces to choose from, with the same link. */
  outcome: Session | { choose: string[] };
}

/** `link`: its secret, or its whole address. Throws UNAUTHENTICATED in another browser, EXPIRED for a link that has ended. */
export async function finishLink(
  deps: Deps,
  { sealed, link, workspace, place }: { sealed: string; link: string; workspace: string | null; place: string | null },
): Promise<FinishedLink> {
  const { sessionMs } = configured(deps);
  const requested = readRequested(await deps.sealedTexts.open('mail-link', sealed));
  // Before the database is asked: only a browser that has requested a link has this.
  if (requested === null) throw new RopewalkError(otherBrowser);
  const [, secret] = /^(?:.*#)?([A-Za-z0-9_-]{32})$/.exec(link.trim()) ?? [];
  if (secret === undefined) throw new RopewalkError(linkEnded);
  deps.loginRates.finish(place);
  const seed = randomBytes(32);
  const made = tokenSecretFrom(deps.keys, seed);
  const nowMs = deps.now();
  const item = {
    ...{ linkHash: hash(deps, 'link', secret), browserHash: hash(deps, 'browser', requested.browser), workspace },
    token: { id: made.id, secretHash: made.secretHash, expiresAtMs: nowMs + sessionMs },
  };
  const answer = await deps.store.mailLinks.use(item, nowMs);
  deps.tokenCache.expire();
  const signedIn = orRefused(answer);
  const { purpose } = requested;
  if ('choose' in signedIn) return { purpose, outcome: signedIn };
  return { purpose, outcome: await handOver(deps, purpose, signedIn, { seed, ...made }) };
}

/** 192 bits. */
const newSecret = (): string => randomBytes(24).toString('base64url');

const hash = ({ keys }: Pick<Deps, 'keys'>, kind: 'link' | 'browser', secret: string): string =>
  createHmac('sha256', keys.current.requestHmac).update(`mail ${kind} ${secret}`).digest('hex');

interface Requested {
  browser: string;
  purpose: SignInPurpose;
}

/** Sealed here, so its shape is known. */
const readRequested = (claims: object | null): Requested | null => claims as Requested | null;

function configured({ mailSignIn }: Pick<Deps, 'mailSignIn'>): MailSignInSettings {
  if (mailSignIn !== null) return mailSignIn;
  throw new RopewalkError({
    code: 'NOT_FOUND',
    message: 'Links in e-mails do not sign in here.',
    hint: 'Sign in with an API token. An operator turns them on: docs/people.md.',
  });
}
