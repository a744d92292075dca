// Pages of a list, read one after the other: as many as the reader has requested, and again when the list has changed.
import { useEffect, useState } from 'preact/hooks';

interface Page<T> {
  items: T[];
  next: string | null;
}

interface Read<T> {
  items: T[];
  /** True also until the first answer. */
  isMore: boolean;
  problem: string;
}

/**
 * `read` returns the page after `after`; null requests the first one. `list` identifies the list; when it changes, the first
 * page is shown again. `changes`: the same list has other items.
 */
export function usePages<T>(
  read: (after: string | null) => Promise<Page<T>>,
  { list, changes, isOpen = true }: { list: string; changes?: unknown; isOpen?: boolean },
): Read<T> & { showMore: () => void } {
  const [wanted, setWanted] = useState({ list, pages: 1 });
  const [found, setFound] = useState<Read<T>>({ items: [], isMore: true, problem: '' });
  const pages = wanted.list === list ? wanted.pages : 1;
  useEffect(() => {
    if (!isOpen) return;
    let isLeft = false;
    const readAll = async (): Promise<void> => {
      const items: T[] = [];
      let after: string | null = null;
      for (let page = 0; page < pages && !isLeft; page += 1) {
        const answer: Page<T> = await read(after);
        items.push(...answer.items);
        after = answer.next;
        if (after === null) break;
      }
      if (!isLeft) setFound({ items, isMore: after !== null, problem: '' });
    };
    readAll().catch((error: unknown) => {
      const problem = error instanceof Error ? error.message : String(error);
      if (!isLeft) setFound((last) => ({ ...last, problem }));
    });
    return () => {
      isLeft = true;
    };
  }, [list, changes, pages, isOpen]);
  return { ...found, showMore: () => setWanted({ list, pages: pages + 1 }) };
}
