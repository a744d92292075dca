// Notifications by e-mail: which address is one, what a message says, how many a workspace sends, and when a failure is final.
import { outcomeOf, type DeliveryOutcome } from './delivery.ts';
import type { NewNotification } from './types.ts';

const localPart = "[A-Za-z0-9!#$&'*+/=?^_`{|}~.-]{1,64}";

/** As a document of the API says it; `mailAddress` decides. */
export const mailUrl = new RegExp(`^mailto:${localPart}@[A-Za-z0-9.-]{1,189}$`);

const word = "[A-Za-z0-9!#$&'*+/=?^_`{|}~-]+";
const label = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?';

/** One address of ASCII, without a display name: nothing of it can begin another header or name a second receiver. */
export const mailAddress = new RegExp(
  `^(?=.{1,254}$)(?=[^@]{1,64}@)${word}(\\.${word})*@(${label}\\.)+[A-Za-z]{2,63}$`,
);

/** Of a workspace, in an hour of the clock: all its addresses together. Messages beyond wait for the next hour. */
export const mailsPerHour = 60;

export interface Mail {
  subject: string;
  text: string;
}

interface MailContext {
  /** RFC 3339. */
  at: string;
  workspace: string;
  /** Of the subscription. */
  webhook: string;
  /** Who subscribed the address. */
  user: string;
}

/** Plain text. A name or a reason of a user is data in it: it makes no header, and holds no control character. */
export function mailOf(
  { type, text, object }: Pick<NewNotification, 'type' | 'text' | 'object'>,
  { at, workspace, webhook, user }: MailContext,
): Mail {
  const clean = withoutControls(text);
  const [first = ''] = clean.split('\n');
  const subject = `[ropewalk ${workspace}] ${first}`;
  return {
    subject: subject.length <= maxSubject ? subject : `${subject.slice(0, maxSubject - 1)}…`,
    text: [
      clean,
      '',
      `Event:     ${type}`,
      `About:     ${object}`,
      `Workspace: ${workspace}`,
      `Time:      ${at}`,
      '',
      '-- ',
      `${withoutControls(user)} subscribed this address to notifications of the workspace ${workspace}.`,
      `To end them, an admin of the workspace runs: ropewalk webhook delete ${webhook}`,
      '',
    ].join('\n'),
  };
}

const maxSubject = 150;

const withoutControls = (text: string): string =>
  text.replace(/\r\n?|\u2028|\u2029/g, '\n').replace(/(?!\n)\p{Cc}|\p{Bidi_C}/gu, ' ');

/** `status`: of the mail server; null without an answer. What it refuses for good (`isFinal`) is not sent again. */
export function mailOutcomeOf(
  { status, isFinal }: { status: number | null; isFinal: boolean },
  attempts: number,
  nowMs: number,
): DeliveryOutcome {
  if (isFinal) return { state: 'failed', gone: false };
  // 4yz and 5yz are no states of HTTP.
  return outcomeOf(status !== null && status >= 300 ? null : status, attempts, nowMs);
}

const hourMs = 3_600_000;

/** Number of the hour of the clock. */
export const mailHourOf = (nowMs: number): number => Math.floor(nowMs / hourMs);
/** When the next one begins. */
export const nextMailHourMs = (nowMs: number): number => (mailHourOf(nowMs) + 1) * hourMs;
