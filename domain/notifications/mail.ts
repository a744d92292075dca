// Notifications by e-mail: valid addresses, the message, a workspace's hourly limit, and final failures.
import { outcomeOf, type DeliveryOutcome } from './delivery.ts';
import type { NewNotification } from './types.ts';

const localPart = "[A-Za-z0-9!#$&'*+/=?^_`{|}~.-]{1,64}";

/** The pattern in the API's document; `mailAddress` decides. */
export const mailUrl = new RegExp(`^mailto:${localPart}@[A-Za-z0-9.-]{1,189}$`);

const word = "[A-Za-z0-9!#$&'*+/=?^_`{|}~-]+";
const label = '[A-Za-z0-9]([A-Za-z0-9-]{0,61}[A-Za-z0-9])?';

/** One ASCII address without a display name: it cannot begin another header or name a second recipient. */
export const mailAddress = new RegExp(
  `^(?=.{1,254}$)(?=[^@]{1,64}@)${word}(\\.${word})*@(${label}\\.)+[A-Za-z]{2,63}$`,
);

/** Maximum number of e-mails of a workspace in a clock hour, for all its addresses. Further messages wait for the next hour. */
export const mailsPerHour = 60;

export interface Mail {
  subject: string;
  text: string;
}

interface MailContext {
  /** RFC 3339. */
  at: string;
  workspace: string;
  /** Name of the subscription. */
  webhook: string;
  /** The user who subscribed the address. */
  user: string;
}

/** Builds plain text. A user's name or reason is only data in it: it cannot add a header and contains no control character. */
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

/** `status`: of the mail server; null without an answer. A message that the server refuses for good (`isFinal`) is not sent again. */
export function mailOutcomeOf(
  { status, isFinal }: { status: number | null; isFinal: boolean },
  attempts: number,
  nowMs: number,
): DeliveryOutcome {
  if (isFinal) return { state: 'failed', gone: false };
  // 4yz and 5yz are not HTTP statuses.
  return outcomeOf(status !== null && status >= 300 ? null : status, attempts, nowMs);
}

const hourMs = 3_600_000;

/** Number of the clock hour. */
export const mailHourOf = (nowMs: number): number => Math.floor(nowMs / hourMs);
/** Start of the next clock hour. */
export const nextMailHourMs = (nowMs: number): number => (mailHourOf(nowMs) + 1) * hourMs;
