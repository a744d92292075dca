// The data of a page without a stream: read when it opens, after each action, and every few seconds while it is visible.
import { useCallback, useEffect, useState } from 'preact/hooks';

const everyMs = 5_000;

export interface Reading<T> {
  value: T | null;
  problem: string;
  again: () => Promise<void>;
}

/** `read` must keep its identity while it reads the same. */
export function useReading<T>(read: () => Promise<T>): Reading<T> {
  const [value, setValue] = useState<T | null>(null);
  const [problem, setProblem] = useState('');
  const again = useCallback(async (): Promise<void> => {
    try {
      setValue(await read());
      setProblem('');
    } catch (error) {
      setProblem(error instanceof Error ? error.message : String(error));
    }
  }, [read]);
  useEffect(() => {
    void again();
    const timer = setInterval(() => void (document.visibilityState === 'visible' && again()), everyMs);
    return () => clearInterval(timer);
  }, [again]);
  return { value, problem, again };
}
