// The answer to "why": sentences about one cluster or job, each with its facts.

/** `state`: why it runs or waits. `size`: why it is not bigger. `instanceType`: why these types. `end`: why it stopped. */
export type WhyTopic = 'state' | 'size' | 'instanceType' | 'end';

/** A number or text of the view, or an event named `event` and its code, with the time of its change. */
export interface WhyFact {
  name: string;
  value: string | number;
  atMs: number | null;
}

export interface WhySentence {
  about: WhyTopic;
  text: string;
  facts: WhyFact[];
}

export const fact = (name: string, value: string | number, atMs: number | null = null): WhyFact => ({
  name,
  value,
  atMs,
});

/** An event of a cluster or job, or the reason of its end. */
export const eventFact = ({ code, text, atMs }: { code: string; text: string; atMs: number }): WhyFact =>
  fact(`event ${code}`, text, atMs);

/** One format for all readers: `2026-11-22 19:20:59 UTC`. */
export const timeText = (ms: number): string => `${new Date(ms).toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** One sentence, without the full stop that some reasons end with. */
export const clause = (text: string): string => text.trim().replace(/\.$/, '');
