// One database for all tests of a describe block: each test has a workspace of its own in it.
import { afterAll, beforeAll } from 'vitest';

import type { Backend, Stores } from '../fixtures.ts';

export function useStores(backend: Backend): () => Stores {
  let stores: Awaited<ReturnType<Backend['open']>> | undefined;
  beforeAll(async () => {
    stores = await backend.open();
  });
  afterAll(() => stores?.close());
  return () => {
    if (stores === undefined) throw new Error('the database is not open');
    return stores;
  };
}
