// A page of numbers, newest first: what is open comes from the workspace, what is over from the archive. Never from
// Temporal's visibility, which lags. The cursor is a number: the page holds smaller ones.
import { RopewalkError } from '../domain/errors.ts';
import type { HolderKind } from '../domain/workspace/state.ts';
import { archiveKey, archivePrefix, numberOfArchiveKey } from '../platform/archive-keys.ts';
import type { Deps } from './context.ts';

export interface NumberPage {
  numbers: number[];
  next: string | null;
}

export async function listNumbers(
  deps: Pick<Deps, 'objects' | 'views'>,
  query: {
    workspace: string;
    kind: 'jobs' | 'clusters';
    holders: HolderKind[];
    /** Only what is open under this name: what is over has given its name back. */
    name?: string | undefined;
    limit: number;
    after: string | undefined;
  },
): Promise<NumberPage> {
  const { workspace, kind, limit, name } = query;
  const after = parseCursor(query.after);
  const { value } = await deps.views.workspace(workspace, openMaxAgeMs);
  const open = (value?.holders ?? [])
    .filter((holder) => query.holders.includes(holder.kind) && (name === undefined || holder.name === name))
    .map(({ number }) => number);
  const archived =
    name === undefined
      ? await deps.objects.list(archivePrefix(workspace, kind), {
          limit: limit + 1,
          ...(after === null ? {} : { after: archiveKey(workspace, kind, after) }),
        })
      : [];
  // A job is in both for a moment: archived first, released after.
  const numbers = [...new Set([...open, ...archived.map(numberOfArchiveKey)])]
    .filter((number) => after === null || number < after)
    .sort((a, b) => b - a);
  const page = numbers.slice(0, limit);
  return { numbers: page, next: numbers.length > limit ? String(page.at(-1)) : null };
}

/** Reads each, a few at a time. One that is gone between listing and reading is left out. */
export async function readAll<T>(numbers: number[], read: (number: number) => Promise<T>): Promise<T[]> {
  const found = new Map<number, T>();
  const rest = numbers.values();
  const reader = async (): Promise<void> => {
    for (const number of rest) {
      const value = await read(number).catch(nullIfNotFound);
      if (value !== null) found.set(number, value);
    }
  };
  await Promise.all(Array.from({ length: parallelReads }, reader));
  return numbers.flatMap((number) => found.get(number) ?? []);
}

const openMaxAgeMs = 250;
const parallelReads = 16;

export function parseCursor(after: string | undefined): number | null {
  if (after === undefined) return null;
  if (/^\d{1,12}$/.test(after)) return Number(after);
  throw new RopewalkError({
    code: 'VALIDATION',
    field: 'after',
    message: `after: ${JSON.stringify(after)} is not a cursor.`,
    hint: 'Pass the `next` of the page before as it is.',
  });
}

function nullIfNotFound(error: unknown): null {
  if (error instanceof RopewalkError && error.problem.code === 'NOT_FOUND') return null;
  throw error;
}
