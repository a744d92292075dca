// Checks the token of a long stream or socket periodically, because it was authenticated only once. A failed check decides nothing, so an outage of
// the database closes no stream.
import { accessCheckEveryMs } from '../../domain/tokens/limits.ts';

export interface AccessWatch {
  isLost(): boolean;
  end(): void;
}

export function watchAccess(isGood: () => Promise<boolean>, onLost: () => void): AccessWatch {
  let isLost = false;
  const timer = setInterval(() => {
    isGood().then(
      (good) => {
        if (good || isLost) return;
        isLost = true;
        clearInterval(timer);
        onLost();
      },
      () => undefined,
    );
  }, accessCheckEveryMs);
  timer.unref();
  return { isLost: () => isLost, end: () => clearInterval(timer) };
}
