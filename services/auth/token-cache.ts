// What the database says of tokens, at most a second old in this process. A change made through this process shows at once.
import type { Token, User } from '../../domain/people/state.ts';
import { tokenMaxAgeMs } from '../../domain/tokens/limits.ts';
import type { ApiMetrics } from '../../platform/metrics/api-metrics.ts';
import type { Store } from '../../store/store.ts';
import { createReadCache } from '../read-cache.ts';

export interface KnownToken {
  token: Token;
  user: User | null;
}

export interface TokenCache {
  /** Null when unknown. Throws UNAVAILABLE when the database does not answer and nothing young enough is known. */
  find(workspace: string, id: string): Promise<KnownToken | null>;
  /** Tokens or users were changed. */
  expire(): void;
}

export function createTokenCache(ports: {
  store: { people: Pick<Store['people'], 'findToken'> };
  now: () => number;
  metrics: Pick<ApiMetrics, 'viewRead'>;
}): TokenCache {
  const { store, now, metrics } = ports;
  // Unknown ids are cached too: an unknown id and a wrong secret are refused by the same work.
  const cache = createReadCache<KnownToken | null>({
    now,
    maxEntries,
    onRead: (source) => metrics.viewRead('token', source),
    load: (key) => {
      const [workspace = '', id = ''] = key.split('/');
      return store.people.findToken(workspace, id);
    },
  });
  return {
    find: (workspace, id) => cache.get(`${workspace}/${id}`, tokenMaxAgeMs),
    expire: () => cache.expireAll(),
  };
}

/** Some 5 MB. */
const maxEntries = 10_000;
