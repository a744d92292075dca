// Lists come in pages. A list call answers both ways: `await` it for one page, `for await` it for every item.

export interface Page<T> {
  items: T[];
  /** Pass it as `after` to get what follows; null on the last page. */
  next: string | null;
}

export type Paged<T> = Promise<Page<T>> & AsyncIterable<T>;

/** `fetchPage` is called at once for the first page, and for each further one when the iteration gets there. */
export function createPaged<T>(fetchPage: (after: string | undefined) => Promise<Page<T>>, after?: string): Paged<T> {
  const first = fetchPage(after);
  return Object.assign(first, {
    async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
      let page = await first;
      for (;;) {
        yield* page.items;
        if (page.next === null) return;
        page = await fetchPage(page.next);
      }
    },
  });
}
