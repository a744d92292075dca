// A page's data, kept current by one stream. It reconnects by itself after an outage of the API or the network.
import { useEffect, useState } from 'preact/hooks';

import { readLines } from './lines.ts';
import type { Session } from './session.ts';

export type LiveState = 'connecting' | 'live' | 'ended' | 'away';

export interface Live<T> {
  value: T | null;
  state: LiveState;
  /** Why there is nothing to show. */
  problem: string | null;
}

const firstRetryMs = 500;
const maxRetryMs = 10_000;

export function useLive<T>(session: Session, path: string): Live<T> {
  const [live, setLive] = useState<Live<T>>({ value: null, state: 'connecting', problem: null });
  useEffect(() => {
    const left = new AbortController();
    setLive({ value: null, state: 'connecting', problem: null });
    const run = async (): Promise<void> => {
      let waitMs = firstRetryMs;
      while (!left.signal.aborted) {
        try {
          await readLines<T>(session, path, left.signal, (value) => {
            waitMs = firstRetryMs;
            setLive({ value, state: 'live', problem: null });
          });
          return setLive((last) => ({ ...last, state: 'ended' }));
        } catch (error) {
          if (left.signal.aborted) return;
          const problem = error instanceof Error ? error.message : String(error);
          const isFinal = error instanceof Error && 'isFinal' in error && error.isFinal === true;
          setLive((last) => ({ ...last, state: isFinal ? 'ended' : 'away', problem }));
          if (isFinal) return;
          await new Promise((resolve) => setTimeout(resolve, waitMs * (0.5 + Math.random())));
          waitMs = Math.min(waitMs * 2, maxRetryMs);
        }
      }
    };
    void run();
    return () => left.abort();
  }, [session.token, path]);
  return live;
}
