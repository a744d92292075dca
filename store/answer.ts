// The result of a transaction that a rule may refuse.
import type { Problem } from '../domain/errors.ts';

export type Answer<T> = { ok: T } | { error: Problem };
