// What software the instances of a job or cluster may share: an instance that waits asks often, and a sealed bundle may be large. It
// never changes while the job or cluster is open.
import type { InstanceContext } from '../context.ts';
import type { SharedContent } from './content.ts';

export interface KnownContents {
  /** The instance must have been found to be live: only the first read checks that. */
  of(
    context: InstanceContext,
    read: (context: InstanceContext) => Promise<SharedContent | null>,
  ): Promise<SharedContent | null>;
}

export function createKnownContents(maxEntries = 10_000): KnownContents {
  const known = new Map<string, SharedContent | null>();
  return {
    async of(context, read) {
      const { workspace, cluster } = context.actor;
      const key = `${workspace}/${cluster}`;
      const before = known.get(key);
      if (before !== undefined) return before;
      // Not one read for all who ask at once: it may fail for the reason of one instance alone.
      const content = await read(context);
      known.set(key, content);
      const [oldest] = known.keys();
      if (known.size > maxEntries && oldest !== undefined) known.delete(oldest);
      return content;
    },
  };
}
