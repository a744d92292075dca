// Rate limits before sign-in, and for guesses of codes. Counted in this process, so with several replicas the limit is as many times higher, which
// still allows far too few guesses for a code of eight letters.
import { RopewalkError } from '../../domain/errors.ts';
import {
  deviceLoginTtlMs,
  mailLinkRateMs,
  maxDeviceLogins,
  maxDeviceLoginsOfAddress,
  maxMailLinksFromPlace,
  maxMailLinksOfAddressFromPlace,
  maxSignInsOfAddress,
  maxWrongUserCodes,
} from '../../domain/people/limits.ts';

export interface LoginRates {
  /**
   * Throws TOO_BUSY when this address has begun too many logins recently, never because of other addresses: when too many logins wait, one of the
   * address with the most is removed. Call `begun` when the login has its key; it returns the key of the removed login.
   */
  begin(address: string | null): { begun: (key: string) => string | null };
  /** Throws TOO_BUSY when this address has finished too many sign-ins at the identity provider recently; these are counted separately. */
  finish(address: string | null): void;
  /** Throws TOO_BUSY when links in e-mails were requested too often from here, for any address or for this one; every address counts alike. */
  requestLink(place: string | null, address: string): void;
  /**
   * Throws TOO_BUSY when this person has typed too many wrong codes recently. Counts as wrong at once, so concurrent guesses count too; the caller
   * calls the returned function for a correct code.
   */
  guess(person: string): () => void;
}

export function createLoginRates(now: () => number): LoginRates {
  const wrong = new Map<string, Window>();
  const begunBy = new Map<string, Window>();
  const finishedBy = new Map<string, Window>();
  const linksOf = new Map<string, Window>();
  let waiting: Waiting[] = [];
  const hasEnded = ({ sinceMs }: Window, lengthMs = deviceLoginTtlMs): boolean => now() - sinceMs >= lengthMs;
  return {
    begin(address) {
      count(begunBy, address, { max: maxDeviceLoginsOfAddress, message: 'Too many logins were begun from here.' });
      waiting = waiting.filter(({ sinceMs }) => now() - sinceMs < deviceLoginTtlMs);
      return {
        begun: (key) => {
          const last = waiting.length < maxDeviceLogins ? null : oldestOfMost(waiting);
          waiting = [...waiting.filter((each) => each !== last), { key, address, sinceMs: now() }];
          return last?.key ?? null;
        },
      };
    },
    finish(address) {
      count(finishedBy, address, { max: maxSignInsOfAddress, message: 'Too many people have signed in from here.' });
    },
    requestLink(place, address) {
      if (place === null) return;
      const lengthMs = mailLinkRateMs;
      const ofPlace = { max: maxMailLinksFromPlace, message: 'Too many links were requested from here.', lengthMs };
      const ofAddress = {
        ...{ max: maxMailLinksOfAddressFromPlace, lengthMs },
        message: 'Too many links for this address were requested from here.',
      };
      count(linksOf, place, ofPlace);
      count(linksOf, `${place} ${address}`, ofAddress);
    },
    guess(person) {
      const known = wrong.get(person);
      const window = known === undefined || hasEnded(known) ? { sinceMs: now(), count: 0 } : known;
      if (window.count >= maxWrongUserCodes) throw tooMany('Too many codes were wrong.', window);
      window.count += 1;
      wrong.set(person, window);
      return () => {
        window.count -= 1;
        if (window.count === 0 && wrong.get(person) === window) wrong.delete(person);
      };
    },
  };

  function count(windows: Map<string, Window>, key: string | null, { max, message, lengthMs }: Limit): void {
    // Oldest first: a window enters the map when it begins.
    for (const [each, window] of windows) {
      if (!hasEnded(window, lengthMs)) break;
      windows.delete(each);
    }
    if (key === null) return;
    const window = windows.get(key) ?? { sinceMs: now(), count: 0 };
    if (window.count >= max) throw tooMany(message, window, lengthMs);
    window.count += 1;
    // A flood from many addresses must not fill the memory either.
    if (windows.size < maxAddresses) windows.set(key, window);
  }

  function tooMany(message: string, { sinceMs }: Window, lengthMs = deviceLoginTtlMs): RopewalkError {
    const retryAfterMs = sinceMs + lengthMs - now();
    return new RopewalkError(
      { code: 'TOO_BUSY', message, hint: 'Wait for the time in Retry-After.' },
      { retryAfterMs },
    );
  }
}

const maxAddresses = 100_000;

interface Limit {
  max: number;
  message: string;
  /** Default: `deviceLoginTtlMs`. */
  lengthMs?: number;
}

interface Waiting {
  key: string;
  address: string | null;
  sinceMs: number;
}

/** The oldest login of the address with the most waiting ones, so a flood displaces itself first. */
function oldestOfMost(waiting: readonly Waiting[]): Waiting | null {
  const counts = new Map<string | null, number>();
  for (const { address } of waiting) counts.set(address, (counts.get(address) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return waiting.find(({ address }) => counts.get(address) === most) ?? null;
}

interface Window {
  sinceMs: number;
  count: number;
}
