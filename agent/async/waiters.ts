// Waits until something that is looked at again after each change is there.

export interface Waiters {
  /** What `find` returns as soon as it is not null; null when the time has passed or the waiting was ended. */
  when: <T>(find: () => T | null, timeoutMs: number) => Promise<T | null>;
  /** Something changed. */
  check: () => void;
  /** Nothing will change any more. */
  end: () => void;
}

export function createWaiters(): Waiters {
  const looks = new Set<(hasEnded: boolean) => void>();
  return {
    when: <T>(find: () => T | null, timeoutMs: number) =>
      new Promise<T | null>((resolve) => {
        const look = (hasEnded: boolean): void => {
          const found = find();
          if (found === null && !hasEnded) return;
          clearTimeout(timer);
          looks.delete(look);
          resolve(found);
        };
        const timer = setTimeout(() => look(true), timeoutMs);
        looks.add(look);
        look(false);
      }),
    check: () => {
      for (const look of [...looks]) look(false);
    },
    end: () => {
      for (const look of [...looks]) look(true);
    },
  };
}
