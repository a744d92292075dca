// Keeps an ended job's bundle for some days, for a retry; its lifetime is shorter than an open job's.
import { retriableForMs } from '../../domain/job/retry-rules.ts';
import { DamagedEnvelope, type Vault } from './vault.ts';

/** Seals it again under its key, for `retriableForMs`. */
export async function keepForRetry(vault: Pick<Vault, 'delete' | 'open' | 'seal'>, ref: string): Promise<void> {
  const bytes = await vault.open(ref).catch((error: unknown) => {
    // A damaged envelope cannot be used to run tasks again. An unreachable object store is the caller's error: the envelope
    // still exists.
    if (error instanceof DamagedEnvelope) return null;
    throw error;
  });
  await (bytes === null ? vault.delete(ref) : vault.seal(ref, bytes, { ttlMs: retriableForMs }));
}
