// A pause that ends early, by throwing the signal's reason, when its signal aborts.

export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  // Not Promise.withResolvers, which Node 20 does not have.
  await new Promise<void>((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, Math.min(ms, maxTimerMs));
    signal?.addEventListener('abort', wake, { once: true });
  });
  signal?.throwIfAborted();
}

/** A timer of more than 24.8 days ends at once. */
const maxTimerMs = 2 ** 31 - 1;
