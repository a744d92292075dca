// Of a job that has ended, and that can be run again for some days: what it ran lives shorter than what open jobs run.
import { retriableForMs } from '../../domain/job/retry-rules.ts';
import { DamagedEnvelope, type Vault } from './vault.ts';

/** Sealed anew under its key, for `retriableForMs`. */
export async function keepForRetry(vault: Pick<Vault, 'delete' | 'open' | 'seal'>, ref: string): Promise<void> {
  const bytes = await vault.open(ref).catch((error: unknown) => {
    // Tasks cannot be run again from a damaged envelope. An object store that cannot be reached is the caller's error: the envelope
    // is still there.
    if (error instanceof DamagedEnvelope) return null;
    throw error;
  });
  await (bytes === null ? vault.delete(ref) : vault.seal(ref, bytes, { ttlMs: retriableForMs }));
}
