// Caches the database's tokens in this process for at most a second. A change through this process is visible at once.
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
  /** Null when unknown. Throws UNAVAILABLE when the database does not answer and the cache has no recent entry. */
  find(workspace: string, id: string): Promise<KnownToken | null>;
  /** Called after a change of tokens or users. */
  expire(): void;
}

export function createTokenCache(ports: {
  store: { people: Pick<Store['people'], 'findToken'> };
  now: () => number;
  metrics: Pick<ApiMetrics, 'viewRead'>;
}): TokenCache {
  const { store, now, metrics } = ports;
  // Unknown ids are cached too, so an unknown id and a wrong secret take the same work.
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
