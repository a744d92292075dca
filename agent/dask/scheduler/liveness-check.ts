// Pings the scheduler periodically, and notifies when it stops answering and when it answers again. It never ends anything: the
// control plane decides about a silent scheduler.
import type { SchedulerLink } from './link.ts';
import { answered, asked, look, pulseLimits, silentForMs, startPulse } from './liveness.ts';
import type { Reports } from '../../api-client/reports.ts';

export interface PulseInput {
  link: Pick<SchedulerLink, 'order'>;
  timeoutMs: number;
  notify: Reports['unanswered'];
}

/** Returns a function that stops it. */
export function watchPulse({ link, timeoutMs, notify }: PulseInput): () => void {
  const limits = pulseLimits(timeoutMs);
  let pulse = startPulse(performance.now());
  let isAsking = false;
  const ask = async (): Promise<void> => {
    pulse = asked(pulse, performance.now());
    isAsking = true;
    try {
      await link.order('ping', {}, askAgainMs);
      pulse = answered(pulse);
    } catch {
      // A refusal, a lost connection or a timeout counts as no answer.
    }
    isAsking = false;
  };
  const timer = setInterval(() => {
    const seen = look(pulse, limits, performance.now());
    pulse = seen.pulse;
    if (seen.notifies) notify(() => silentForMs(pulse, limits, performance.now()));
    if (!isAsking) void ask();
  }, limits.everyMs);
  return () => clearInterval(timer);
}

/** A scheduler that did not read answers old pings late; another ping costs only a line. */
const askAgainMs = 30_000;
