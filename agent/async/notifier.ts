// A wait that an event, or the end of the agent, can cut short.

export interface Notifier {
  ring: () => void;
  /** Returns at once when `ring` was called since the last wait. */
  wait: (ms: number) => Promise<void>;
}

export function createNotifier(signal: AbortSignal): Notifier {
  let rung = false;
  let wake: (() => void) | null = null;
  const ring = (): void => {
    rung = true;
    wake?.();
  };
  signal.addEventListener('abort', ring);
  const wait = async (ms: number): Promise<void> => {
    if (!rung) {
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, ms);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    wake = null;
    rung = false;
  };
  return { ring, wait };
}
