// Creates a job or cluster even if the API's answer is lost: the request is then repeated under the same idempotency key.
import { ConflictError } from './errors.ts';

/**
 * The first requests use a new key and refuse an existing object, so their answer is the caller's own object even when the API
 * reports it as existing because only a repeat was answered. An existing object is requested only after NAME_TAKEN.
 */
export async function createOwn<T extends { existing: boolean }>(
  create: (how: { getOrCreate?: boolean }, idempotencyKey: string) => Promise<T>,
  mayExist: boolean,
): Promise<T> {
  try {
    return { ...(await create(mayExist ? { getOrCreate: false } : {}, crypto.randomUUID())), existing: false };
  } catch (error) {
    if (!mayExist || !(error instanceof ConflictError) || error.code !== 'NAME_TAKEN') throw error;
    return create({ getOrCreate: true }, crypto.randomUUID());
  }
}
