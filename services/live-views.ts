// The views of open workflows by query, with at most one query in flight per workflow.
import { createReadCache, type ReadSource } from './read-cache.ts';
import type { WorkflowsPort } from './workflows-port.ts';

/** `missing`: Temporal has no such workflow. `failed`: it ended without a result. */
export type Live<V> = { kind: 'view'; view: V } | { kind: 'missing' } | { kind: 'failed'; text: string };

export interface LiveViews<V> {
  /** Throws UNAVAILABLE while Temporal or its workers do not answer. */
  get(number: number, maxAgeMs: number): Promise<Live<V>>;
  /** The last view, of any age. */
  peek(number: number): V | null;
  expire(number: number): void;
}

export function createLiveViews<V>(options: {
  workflows: Pick<WorkflowsPort, 'query' | 'result'>;
  now: () => number;
  workflowId: (number: number) => string;
  query: string;
  onRead: (source: ReadSource) => void;
}): LiveViews<V> {
  const { workflows, workflowId } = options;
  const cache = createReadCache<Live<V>>({
    now: options.now,
    maxEntries,
    onRead: options.onRead,
    load: async (id) => {
      const read = await workflows.query<V>(id, options.query);
      if (read.kind === 'value') return { kind: 'view', view: read.value };
      if (read.kind === 'missing') return { kind: 'missing' };
      const result = await workflows.result<V>(id);
      return result.kind === 'value' ? { kind: 'view', view: result.value } : result;
    },
  });
  return {
    get: (number, maxAgeMs) => cache.get(workflowId(number), maxAgeMs),
    peek(number) {
      const last = cache.peek(workflowId(number))?.value;
      return last?.kind === 'view' ? last.view : null;
    },
    expire: (number) => cache.expire(workflowId(number)),
  };
}

/** A view of a thousand instances takes some 300 kB. */
const maxEntries = 2_000;
