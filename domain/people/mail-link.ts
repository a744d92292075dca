// Sign-in by a link in an e-mail. The address is the name of a user whom an admin has added: who reads its mail is that user. A user to whom an account
// of the identity provider is tied signs in there only, because addresses are reassigned to other people and accounts are not.
import type { Problem } from '../errors.ts';
import { mailAddress } from '../notifications/mail.ts';

/**
 * The address in lower case; null for anything but one plain ASCII address, which can neither begin another header nor name a second receiver. The local
 * part is in lower case too: names of users are compared that way, and no provider in use gives two people addresses that differ in case only.
 */
export function addressOf(text: string): string | null {
  const given = text.trim();
  return mailAddress.test(given) ? given.toLowerCase() : null;
}

/** An address has one link at most: a newer one replaces it. */
export interface MailLink {
  address: string;
  /** Keyed hash of the value that the requesting browser holds. */
  browserHash: string;
  /** The users of that name when the link was requested: one who was removed and added again has another id. */
  userIds: readonly string[];
  expiresAtMs: number;
  usedAtMs: number | null;
}

/** A user of the link's address, as of now. */
export interface LinkedUser {
  id: string;
  workspace: string;
  /** An account of the identity provider is tied to the user. */
  isTied: boolean;
}

/**
 * The workspaces that the link opens, in order. `link`: null for one that is unknown or was replaced. Another browser than the requesting one learns
 * nothing else, and does not use the link up.
 */
export function openLink(
  { link, users }: { link: MailLink | null; users: readonly LinkedUser[] },
  browserHash: string,
  nowMs: number,
): { ok: string[] } | { error: Problem } {
  if (link === null) return { error: linkEnded };
  if (link.browserHash !== browserHash) return { error: otherBrowser };
  if (link.usedAtMs !== null || nowMs >= link.expiresAtMs) return { error: linkEnded };
  const workspaces = users
    .filter(({ id, isTied }) => !isTied && link.userIds.includes(id))
    .map(({ workspace }) => workspace)
    .toSorted();
  return workspaces.length === 0 ? { error: linkEnded } : { ok: workspaces };
}

export const linkEnded: Problem = {
  code: 'EXPIRED',
  message: 'This link is no longer valid. A link works once, for 15 minutes, and only until a newer one is requested.',
  hint: 'Request another link from the sign-in page.',
};

export const otherBrowser: Problem = {
  code: 'UNAUTHENTICATED',
  message:
    'This link was requested in another browser, or more than 15 minutes ago. It works only where the address was typed.',
  hint: 'Open the link there, or request another one here. If you did not request it, ignore the e-mail.',
};

export const noAddress: Problem = {
  code: 'VALIDATION',
  field: 'address',
  message: 'address: one e-mail address, such as ann@example.com, in ASCII and without a name.',
};

/** Plain text. It contains nothing that the requester has chosen except the address, which is the receiver's own. */
export function linkMail({
  site,
  link,
  address,
  place,
  at,
  until,
}: {
  /** The origin of the API. */
  site: string;
  link: string;
  address: string;
  /** The requester's network address, if known. */
  place: string | null;
  /** RFC 3339. */
  at: string;
  until: string;
}): { subject: string; text: string } {
  return {
    subject: 'Sign in to Ropewalk',
    text: [
      `A browser at ${place ?? 'an unknown address'} requested a link to sign in to Ropewalk at ${site}`,
      `as ${address}, at ${at}.`,
      '',
      'Open the link in that browser, and confirm the sign-in on the page:',
      '',
      link,
      '',
      `It works once, until ${until}, and in no other browser.`,
      'If you did not request it, ignore this message: a sign-in needs the link.',
      'Never send the link to anyone.',
      '',
    ].join('\n'),
  };
}
