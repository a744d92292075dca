// How often one may ask before anybody has signed in, and how many codes a person may guess. Counted in this process: with
// several replicas the bound is as many times higher, which is still far too few guesses for a code of eight letters.
import { RopewalkError } from '../../../domain/errors.ts';
import { deviceLoginTtlMs, maxDeviceLogins, maxWrongUserCodes } from '../../../domain/limits.ts';

export interface LoginRates {
  /** Throws TOO_BUSY when too many logins were begun lately. */
  begin(): void;
  /**
   * Throws TOO_BUSY when this person has typed too many wrong codes lately. Counts as wrong at once, so that guesses that
   * come together count too; whoever finds that it was right calls what this returns.
   */
  guess(person: string): () => void;
}

export function createLoginRates(now: () => number): LoginRates {
  const wrong = new Map<string, Window>();
  let begun: Window = { sinceMs: now(), count: 0 };
  const isOver = (window: Window): boolean => now() - window.sinceMs >= deviceLoginTtlMs;
  return {
    begin() {
      if (isOver(begun)) begun = { sinceMs: now(), count: 0 };
      begun.count += 1;
      if (begun.count > maxDeviceLogins) throw tooMany('Too many logins were begun just now.', begun);
    },
    guess(person) {
      const known = wrong.get(person);
      const window = known === undefined || isOver(known) ? { sinceMs: now(), count: 0 } : known;
      if (window.count >= maxWrongUserCodes) throw tooMany('Too many codes were wrong.', window);
      window.count += 1;
      wrong.set(person, window);
      return () => {
        window.count -= 1;
        if (window.count === 0 && wrong.get(person) === window) wrong.delete(person);
      };
    },
  };

  function tooMany(message: string, { sinceMs }: Window): RopewalkError {
    const retryAfterMs = sinceMs + deviceLoginTtlMs - now();
    return new RopewalkError(
      { code: 'TOO_BUSY', message, hint: 'Wait for the time in Retry-After.' },
      { retryAfterMs },
    );
  }
}

interface Window {
  sinceMs: number;
  count: number;
}
