// A pause that ends early, by throwing the signal's reason, when its signal aborts.

export async function sleep(ms: number, signal?: AbortSignal): Promise<void> {
  signal?.throwIfAborted();
  const { promise, resolve } = Promise.withResolvers<void>();
  const wake = (): void => resolve();
  const timer = setTimeout(wake, ms);
  signal?.addEventListener('abort', wake, { once: true });
  await promise;
  clearTimeout(timer);
  signal?.removeEventListener('abort', wake);
  signal?.throwIfAborted();
}
