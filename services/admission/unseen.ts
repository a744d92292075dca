// Workflows that this process has started and that have not written a view to the database. Many of them show that the Temporal workers are behind:
// further starts would only delay the others, whose launched instances wait for their registration.
import type { Store } from '../../store/store.ts';
import type { RecordKind } from '../../store/admission-port.ts';

export interface UnseenStarts {
  add(kind: RecordKind, number: number): void;
  /** Returns how many more may be started now. */
  room(): Promise<number>;
}

export function createUnseenStarts(
  { store, monotonicMs }: { store: Pick<Store, 'jobs' | 'clusters'>; monotonicMs: () => number },
  max = maxUnseen,
): UnseenStarts {
  const started = { job: new Map<number, number>(), cluster: new Map<number, number>() };
  const free = (): number => max - started.job.size - started.cluster.size;
  const forgetSeen = async (kind: RecordKind): Promise<void> => {
    const of = started[kind];
    for (const [number, atMs] of of) if (monotonicMs() - atMs > unseenForMs) of.delete(number);
    const known = await (kind === 'job' ? store.jobs : store.clusters).versions([...of.keys()]);
    for (const { number, version, ended } of known) if (version > 0 || ended) of.delete(number);
  };
  return {
    add: (kind, number) => void started[kind].set(number, monotonicMs()),
    async room() {
      if (free() <= 0) {
        await forgetSeen('job');
        await forgetSeen('cluster');
      }
      return Math.max(0, free());
    },
  };
}

/** A job writes its first view after some eight workflow tasks. */
const maxUnseen = 100;
/** A stuck workflow does not hold up others. */
const unseenForMs = 60_000;
