// The answer to "why": sentences about one cluster or job, each with its facts.
import type { NumberedEvent } from './cluster/history.ts';

/** `state`: why it runs or waits. `size`: why it is not bigger. `instanceType`: why these types. `end`: why it stopped. */
export type WhyTopic = 'state' | 'size' | 'instanceType' | 'end';

/** A number or text of the view, or an event named `event` and its code, with the time of its change. */
export interface WhyFact {
  name: string;
  value: string | number;
  atMs: number | null;
  /** Numbers of the cluster's events that it rests on; empty for a figure that no event records, e.g. of the scheduler's report. */
  events: number[];
}

export interface WhySentence {
  about: WhyTopic;
  text: string;
  facts: WhyFact[];
}

type Event = Pick<NumberedEvent, 'seq' | 'code' | 'atMs'>;

/** An instance may fail many times with one code. */
const maxEventsNamed = 20;

export const fact = (
  name: string,
  value: string | number,
  atMs: number | null = null,
  events: readonly Event[] = [],
): WhyFact => ({ name, value, atMs, events: events.slice(-maxEventsNamed).map(({ seq }) => seq) });

/** An event, or the reason of a status, with the events that record it. */
export const eventFact = (
  { code, text, atMs }: { code: string; text: string; atMs: number },
  events: readonly Event[],
): WhyFact => fact(`event ${code}`, text, atMs, events);

/** The event that records a reason, or none. */
export const eventsOfReason = (reason: { code: string; atMs: number }, events: readonly Event[]): Event[] =>
  events.filter(({ code, atMs }) => code === reason.code && atMs === reason.atMs);

/** The newest event of one of these codes, or none. */
export const newestEvent = <E extends Event>(events: readonly E[], ...codes: string[]): E[] =>
  events.filter(({ code }) => codes.includes(code)).slice(-1);

/** One format for all readers: `2026-11-22 19:20:59 UTC`. */
export const timeText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** One sentence, without the full stop that some reasons end with. */
export const clause = (text: string): string => text.trim().replace(/\.$/, '');
