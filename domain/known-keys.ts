// Decides whether a process has the keys of its deployment, from the fingerprints that the deployment has recorded.

/** In the order in which keys were first used for new tokens and bundles. */
export type KnownKeys = readonly KnownKey[];

export interface KnownKey {
  kid: string;
  /** Equal for equal keys; reveals nothing about them. */
  fingerprint: string;
}

/** The keys of a process. */
export interface OwnKeys {
  /** The key for new tokens and bundles. */
  current: KnownKey;
  byKid(kid: string): KnownKey | null;
}

export type KeyDecision =
  | { do: 'keep' }
  | { do: 'record'; keys: KnownKeys }
  /** The newest key is missing among the process's keys, or another key has the name of a known one. */
  | { do: 'refuse'; why: 'missing' | 'different' };

/**
 * Of two records of one deployment's keys, the other one where it continues this one. Database and object store each have one, which has missed the
 * newest keys when a process ended between its two writes, or after a restore of an older backup.
 */
export function laterKeys(record: KnownKeys | null, other: KnownKeys | null): KnownKeys | null {
  if (record === null || other === null) return record ?? other;
  const isContinued = record.every(({ kid, fingerprint }) =>
    other.some((key) => key.kid === kid && key.fingerprint === fingerprint),
  );
  return isContinued && other.length > record.length ? other : record;
}

/**
 * `known`: null when nothing has been recorded. Older keys may be missing, because they are removed after a rotation. Without the newest one
 * the keys are older than the rotation, as after a restore of an old backup.
 */
export function compareKeys(known: KnownKeys | null, own: OwnKeys): KeyDecision {
  const before = known ?? [];
  const isDifferent = before.some(
    ({ kid, fingerprint }) => (own.byKid(kid)?.fingerprint ?? fingerprint) !== fingerprint,
  );
  if (isDifferent) return { do: 'refuse', why: 'different' };
  const newest = before.at(-1);
  if (newest !== undefined && own.byKid(newest.kid) === null) return { do: 'refuse', why: 'missing' };
  const { kid, fingerprint } = own.current;
  if (before.some((each) => each.kid === kid)) return { do: 'keep' };
  return { do: 'record', keys: [...before, { kid, fingerprint }] };
}
