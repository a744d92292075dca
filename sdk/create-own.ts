// Something new, over an API whose answer may be lost: then the request is repeated, and its repeat finds what it made.
import { ConflictError } from './errors.ts';

/**
 * With a key of its own, whatever the first request made is its caller's, also when only a repeat was answered, which calls it
 * existing. What was there before is found by its name alone: it is asked for once the name is known to be taken.
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
