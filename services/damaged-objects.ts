// Our objects are written whole and never changed, but disks and people damage them. One damaged object must not fail a page, a list or a start: it
// is reported and skipped.
import type { Logger } from 'pino';

export type DamageReport = (key: string, error: unknown) => void;

/** Reports each key once, because repeated reads would fill the log. */
export function reportOnce(logger: Pick<Logger, 'error'>): DamageReport {
  const reported = new Set<string>();
  return (key, error) => {
    if (reported.has(key)) return;
    if (reported.size >= maxReported) reported.clear();
    reported.add(key);
    logger.error({ err: error, key }, 'an object is damaged or missing: restore it from a backup of the object store');
  };
}

const maxReported = 1_000;

/** Null for a damaged object. */
export function parseObject<T>(
  key: string,
  bytes: Uint8Array,
  { parse, report }: { parse: (json: unknown) => T; report: DamageReport },
): T | null {
  try {
    return parse(JSON.parse(Buffer.from(bytes).toString('utf8')));
  } catch (error) {
    report(key, error);
    return null;
  }
}
