// What many pages watch is read once a second for all of them: as someone sees it to whom nothing private belongs. Only where something
// is withheld from them does each user have a read of their own.

type Withheld = { withheld?: boolean | undefined };
/** One view, or a page of them. */
export type Shown = Withheld | { items: readonly Withheld[] };

export interface SharedRead<V> {
  workspace: string;
  /** Identifies the read within the workspace: route and query. */
  key: string;
  userId: string;
  /** It depends on who asks, as a search does. */
  isPersonal: boolean;
  /** As this user sees it. */
  readOwn: () => Promise<V>;
  /** Without the private objects of any user. */
  readPublic: () => Promise<V>;
}

export interface SharedReads {
  /** At most `sharedForMs` old. Rejects as the reads do. */
  read<V extends Shown>(asked: SharedRead<V>): Promise<V>;
}

/** Less than the second after which followers ask again. */
const sharedForMs = 900;
/** Of the last second alone, so that few are many. */
const maxKept = 1_000;

export function createSharedReads(monotonicMs: () => number): SharedReads {
  const known = new Map<string, { atMs: number; value: Promise<unknown> }>();

  function once<V>(key: string, load: () => Promise<V>): Promise<V> {
    const last = known.get(key);
    // Of the same key, so that its type is that of this read.
    if (last !== undefined && monotonicMs() - last.atMs < sharedForMs) return last.value as Promise<V>;
    const value = load();
    known.delete(key);
    known.set(key, { atMs: monotonicMs(), value });
    const forget = (): void => {
      if (known.get(key)?.value === value) known.delete(key);
    };
    value.catch(forget);
    for (const [oldest, { atMs }] of known) {
      if (known.size <= maxKept && monotonicMs() - atMs < sharedForMs) break;
      known.delete(oldest);
    }
    return value;
  }

  return {
    async read({ workspace, key, userId, isPersonal, readOwn, readPublic }) {
      const ofUser = () => once(JSON.stringify([workspace, key, userId]), readOwn);
      if (isPersonal) return ofUser();
      const shown = await once(JSON.stringify([workspace, key]), readPublic);
      const isWithheld = 'items' in shown ? shown.items.some(hides) : hides(shown);
      return isWithheld ? ofUser() : shown;
    },
  };
}

const hides = ({ withheld }: Withheld): boolean => withheld === true;
