// Asks the scheduler now and then whether it is there to answer, and notifies of it when it is not, and when it is again. It
// never ends anything: what a silent scheduler comes to is the control plane's to say.
import type { SchedulerLink } from './link.ts';
import { answered, asked, look, pulseLimits, silentForMs, startPulse } from './liveness.ts';
import type { Reports } from '../../api-client/reports.ts';

export interface PulseInput {
  link: Pick<SchedulerLink, 'order'>;
  timeoutMs: number;
  notify: Reports['unanswered'];
}

/** Returns how to end it. */
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
      // Refused, cut off, or no answer in time: no answer.
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

/** What was asked while the scheduler did not read is answered late; another question costs a line. */
const askAgainMs = 30_000;
