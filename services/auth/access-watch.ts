// What goes on for long, a stream or a socket, was let in once: this looks again and again whether it still may. A look
// that fails decides nothing, so that an outage of ours cuts nobody off.
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
