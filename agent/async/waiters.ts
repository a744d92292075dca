// Waits for a condition that is evaluated after each change.

export interface Waiters {
  /** The first non-null result of `find`; null after the timeout or `end`. */
  when: <T>(find: () => T | null, timeoutMs: number) => Promise<T | null>;
  /** Evaluates all conditions after a change. */
  check: () => void;
  /** Ends all waits. */
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
